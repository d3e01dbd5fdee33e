//! The addresses that face the world: made of the state's key, so that they last as long, and can be
//! guessed by nobody.

use std::fmt;

use chrono::DateTime;

use super::gate::Gate;
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
    gate: Gate,
}

impl fmt::Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Outside(…)")
    }
}

impl Outside {
    /// From the key that digests are made with.
    pub fn new(digest_key: &[u8; 32]) -> Self {
        Self { key: *keyed(digest_key, "outside", b"").as_bytes(), gate: Gate::default() }
    }

    /// The same, where these posts alone are heard.
    #[must_use]
    pub fn guarded(self, gate: Gate) -> Self {
        Self { gate, ..self }
    }

    pub(super) fn gate(&self) -> &Gate {
        &self.gate
    }

    /// The Event URL of the partner application of this generation beneath an address; the service appends the reference
    /// (partner-api, Merchant application). A secret: nothing else tells the service from anybody.
    pub fn event_url(&self, base: &str, generation: u32) -> String {
        format!("{}{PARTNER_PATH}{}/", base.trim_end_matches('/'), self.token(generation))
    }

    /// The stable link of an applicant beneath an address. A secret: it shows what is filled in.
    pub fn link(&self, base: &str, application: &Key) -> String {
        let named = format!("{}.{}", application.namespace, application.name);
        let signed = self.signature(&named);
        format!("{}{APPLY_PATH}{named}.{signed}", base.trim_end_matches('/'))
    }

    /// The address of a merchant's events of a mode, of this generation, beneath an address (gateway-api, Webhook rules). A secret.
    pub fn gateway_url(&self, base: &str, merchant: &Key, mode: Mode, generation: u32) -> String {
        let mut named = format!("{}.{}.{mode}", merchant.namespace, merchant.name);
        if generation > 0 {
            named = format!("{named}.{generation}");
        }
        let signed = self.code("gateway-token", &named, SIGNATURE_LENGTH);
        format!("{}{GATEWAY_PATH}{named}.{signed}", base.trim_end_matches('/'))
    }

    /// The merchant, the mode and the generation that a token of such an address names, if its signature is ours.
    pub(super) fn merchant(&self, token: &str) -> Option<(Key, Mode, u32)> {
        let (signed_text, signed) = token.rsplit_once('.')?;
        if !same(signed, &self.code("gateway-token", signed_text, SIGNATURE_LENGTH)) {
            return None;
        }
        let (named, generation) = numbered(signed_text);
        let (merchant, mode) = named.rsplit_once('.')?;
        let (namespace, name) = merchant.split_once('.')?;
        let merchant = format!("Merchant/{namespace}/{name}").parse().ok()?;
        Some((merchant, mode.parse().ok()?, generation))
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

    /// The generation of the Event URL that a token is of.
    pub(super) fn partner(&self, token: &str) -> Option<u32> {
        let generation = token.split_once('.').map_or(Ok(0), |(number, _)| number.parse()).ok()?;
        same(token, &self.token(generation)).then_some(generation)
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

    fn token(&self, generation: u32) -> String {
        if generation == 0 {
            return self.code("webhook-token", "partner", TOKEN_LENGTH);
        }
        let code = self.code("webhook-token", &format!("partner.{generation}"), TOKEN_LENGTH);
        format!("{generation}.{code}")
    }

    fn signature(&self, named: &str) -> String {
        self.code("apply-link", named, SIGNATURE_LENGTH)
    }

    fn code(&self, label: &str, text: &str, length: usize) -> String {
        keyed(&self.key, label, text.as_bytes()).to_string().chars().take(length).collect()
    }
}

/// What stands before a generation, and the generation; the first one is not written. No mode is a number.
fn numbered(named: &str) -> (&str, u32) {
    let last = named.rsplit_once('.');
    let numbered = last.and_then(|(before, number)| Some((before, number.parse().ok()?)));
    numbered.unwrap_or((named, 0))
}

/// Compares digests: how long that takes says nothing of the texts.
fn same(given: &str, ours: &str) -> bool {
    sha256(given.as_bytes()) == sha256(ours.as_bytes())
}
