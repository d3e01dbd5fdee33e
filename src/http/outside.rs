//! The addresses that face the world: made of the state's key, so that they last as long, and can be
//! guessed by nobody.

use std::fmt;

use chrono::DateTime;

use crate::base::hash::{keyed, sha256};
use crate::base::id::{Key, Mode};
use crate::engine::{IntakeLink, Terms};

/// The path of partner notifications, without the token.
const PARTNER_PATH: &str = "/webhooks/partner/";
/// The path of gateway events, without the token.
const GATEWAY_PATH: &str = "/webhooks/gateway/";
/// The path of applicants' links.
const APPLY_PATH: &str = "/apply/";
/// The path of payers' links.
const INTAKE_PATH: &str = "/intake/";
/// Stands in a payer's link between the generation and the name of what is replaced.
const REPLACES: char = '-';
/// Characters of the token in the Event URL.
const TOKEN_LENGTH: usize = 40;
/// Characters of a link's signature.
const SIGNATURE_LENGTH: usize = 32;

/// What the paths that face the world are opened by.
#[derive(Clone)]
pub struct Outside {
    key: [u8; 32],
}

impl fmt::Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Outside(…)")
    }
}

impl Outside {
    /// From the key that digests are made with.
    pub fn new(digest_key: &[u8; 32]) -> Self {
        Self { key: *keyed(digest_key, "outside", b"").as_bytes() }
    }

    /// The Event URL of the partner application beneath an address; the service appends the reference
    /// (partner-api, Merchant application). A secret: nothing else tells the service from anybody.
    pub fn event_url(&self, base: &str) -> String {
        format!("{}{PARTNER_PATH}{}/", base.trim_end_matches('/'), self.token())
    }

    /// The stable link of an applicant beneath an address. A secret: it shows what is filled in.
    pub fn link(&self, base: &str, application: &Key) -> String {
        let named = format!("{}.{}", application.namespace, application.name);
        let signed = self.signature(&named);
        format!("{}{APPLY_PATH}{named}.{signed}", base.trim_end_matches('/'))
    }

    /// The address of a merchant's events of a mode beneath an address (gateway-api, Webhook rules). A secret.
    pub fn gateway_url(&self, base: &str, merchant: &Key, mode: Mode) -> String {
        let named = format!("{}.{}.{mode}", merchant.namespace, merchant.name);
        let signed = self.code("gateway-token", &named, SIGNATURE_LENGTH);
        format!("{}{GATEWAY_PATH}{named}.{signed}", base.trim_end_matches('/'))
    }

    /// The merchant and the mode that a token of such an address names, if its signature is ours.
    pub(super) fn merchant(&self, token: &str) -> Option<(Key, Mode)> {
        let (named, signed) = token.rsplit_once('.')?;
        let ours = same(signed, &self.code("gateway-token", named, SIGNATURE_LENGTH));
        let (merchant, mode) = named.rsplit_once('.').filter(|_| ours)?;
        let (namespace, name) = merchant.split_once('.')?;
        Some((format!("Merchant/{namespace}/{name}").parse().ok()?, mode.parse().ok()?))
    }

    /// A payer's link beneath an address. A secret: whoever has it can give details.
    pub fn intake(&self, base: &str, link: &IntakeLink) -> String {
        let IntakeLink { key, terms: Terms { generation, replaces }, until } = link;
        let replaces = replaces.as_ref().map(|saved| format!("{REPLACES}{saved}"));
        let replaces = replaces.unwrap_or_default();
        let until = until.timestamp();
        let named = format!("{}.{}.{generation}{replaces}.{until}", key.namespace, key.name);
        let signed = self.code("intake-link", &named, SIGNATURE_LENGTH);
        format!("{}{INTAKE_PATH}{named}.{signed}", base.trim_end_matches('/'))
    }

    /// Whether a token is that of the Event URL.
    pub(super) fn knows(&self, token: &str) -> bool {
        same(token, &self.token())
    }

    /// The application that the last part of a link names, if its signature is ours.
    pub(super) fn application(&self, link: &str) -> Option<Key> {
        let (named, signed) = link.rsplit_once('.')?;
        let ours = same(signed, &self.signature(named));
        let (namespace, name) = named.split_once('.').filter(|_| ours)?;
        format!("MerchantApplication/{namespace}/{name}").parse().ok()
    }

    /// What the last part of a payer's link names, if its signature is ours.
    pub(super) fn payer(&self, link: &str) -> Option<IntakeLink> {
        let (named, signed) = link.rsplit_once('.')?;
        let ours = same(signed, &self.code("intake-link", named, SIGNATURE_LENGTH));
        let (named, until) = named.rsplit_once('.').filter(|_| ours)?;
        let (named, terms) = named.rsplit_once('.')?;
        let (generation, replaces) = match terms.split_once(REPLACES) {
            Some((generation, saved)) => (generation, Some(saved.to_owned())),
            None => (terms, None),
        };
        let (namespace, name) = named.split_once('.')?;
        Some(IntakeLink {
            key: format!("SavedMethod/{namespace}/{name}").parse().ok()?,
            terms: Terms { generation: generation.parse().ok()?, replaces },
            until: DateTime::from_timestamp(until.parse().ok()?, 0)?,
        })
    }

    fn token(&self) -> String {
        self.code("webhook-token", "partner", TOKEN_LENGTH)
    }

    fn signature(&self, named: &str) -> String {
        self.code("apply-link", named, SIGNATURE_LENGTH)
    }

    fn code(&self, label: &str, text: &str, length: usize) -> String {
        keyed(&self.key, label, text.as_bytes()).to_string().chars().take(length).collect()
    }
}

/// Compares digests: how long that takes says nothing of the texts.
fn same(given: &str, ours: &str) -> bool {
    sha256(given.as_bytes()) == sha256(ours.as_bytes())
}
