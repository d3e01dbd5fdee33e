//! The public addresses: derived from the state's key, so that they last as long, and cannot be
//! guessed.
//!
//! The parts of an address are joined by [`SEPARATOR`], which no name, number or mode holds, so
//! that two resources never share an address. The parts of an address of the older form are joined
//! by dots, which names may contain, too. Where they are ambiguous, every possible resource is
//! returned, and the caller takes the one that exists.

use std::time::Duration;

use axum::http::StatusCode;
use chrono::{DateTime, Utc};

use crate::base::hash::{keyed_digest, sha256};
use crate::base::id::{Key, Mode};
use crate::control::handle::Control;
use crate::engine::protocol::payers::{IntakeLink, IntakeTerms};
use crate::http::public::ingress::Ingress;
use crate::kinds::merchant_application::MerchantApplicationKind;
use crate::kinds::planning::step::MERCHANT;
use crate::kinds::saved_method::SavedMethodKind;
use crate::kinds::schema::kind::SpecSchema;

/// The path of partner notifications, without the token.
const PARTNER_PATH: &str = "/webhooks/partner/";
/// The path of gateway events, without the token.
const GATEWAY_PATH: &str = "/webhooks/gateway/";
const APPLY_PATH: &str = "/apply/";
const INTAKE_PATH: &str = "/intake/";
/// Joins the parts of an address.
const SEPARATOR: char = '_';
/// The labels of the signatures, one for each sort of address.
const GATEWAY: &str = "gateway-token-2";
const APPLY: &str = "apply-link-2";
const INTAKE: &str = "intake-link-2";
/// Time limit of the engine for finding which of several resources exists.
const ONLY_MAX: Duration = Duration::from_secs(10);
/// Characters of the token in the Event URL.
const TOKEN_LENGTH: usize = 40;
/// Characters of a link's signature.
const SIGNATURE_LENGTH: usize = 32;
/// Joins the parts of an address of the older form.
const OLDER_SEPARATOR: char = '.';
/// Separates the generation from the name of the replaced method.
const REPLACES: char = '-';

/// An address with a valid signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VerifiedAddress<T> {
    /// The possible resources: several only where an address of the older form is ambiguous.
    pub(crate) candidates: Vec<Key>,
    pub(crate) terms: T,
}

impl<T> VerifiedAddress<T> {
    /// Returns the resource of the address; of several, the one that exists; else the status.
    pub(crate) async fn single_resource(&self, control: &Control) -> Result<Key, StatusCode> {
        if let [key] = self.candidates.as_slice() {
            return Ok(key.clone());
        }
        match tokio::time::timeout(ONLY_MAX, control.only_existing(&self.candidates)).await {
            Ok(Ok(found)) => found.ok_or(StatusCode::NOT_FOUND),
            Ok(Err(_)) | Err(_) => Err(StatusCode::SERVICE_UNAVAILABLE),
        }
    }
}

/// Makes and verifies the public addresses.
#[derive(derive_more::Debug, Clone)]
#[debug("Outside(…)")]
pub struct PublicRoutes {
    key: [u8; 32],
    pub(crate) ingress: Ingress,
}

impl PublicRoutes {
    /// Derives the addresses from the key that digests are made with.
    pub fn new(digest_key: &[u8; 32]) -> Self {
        let key = *keyed_digest(digest_key, "outside", b"").as_bytes();
        Self { key, ingress: Ingress::default() }
    }

    /// Restricts the posts that are accepted.
    #[must_use]
    pub fn with_ingress(self, gate: Ingress) -> Self {
        Self { ingress: gate, ..self }
    }

    /// Returns the partner application's Event URL of this generation beneath a base address; the
    /// service appends the reference (partner-api, Merchant application). The URL is a secret,
    /// since nothing else authenticates the service.
    pub fn event_url(&self, base: &str, generation: u32) -> String {
        address(base, PARTNER_PATH, &format!("{}/", self.token(generation)))
    }

    /// Returns the stable link of an applicant beneath a base address. The link is a secret: it
    /// shows the entered details.
    pub fn apply_url(&self, base: &str, application: &Key) -> String {
        let parts = [application.namespace.to_string(), application.name.to_string()];
        address(base, APPLY_PATH, &self.sign(APPLY, &parts))
    }

    /// Returns the address of a merchant's events of a mode, of this generation, beneath a base
    /// address (gateway-api, Webhook rules). A secret.
    pub fn gateway_url(&self, base: &str, merchant: &Key, mode: Mode, generation: u32) -> String {
        let (namespace, name) = (merchant.namespace.to_string(), merchant.name.to_string());
        let parts = [namespace, name, mode.to_string(), generation.to_string()];
        address(base, GATEWAY_PATH, &self.sign(GATEWAY, &parts))
    }

    /// Returns a payer's link, a secret: its holder can enter details.
    pub fn intake_url(&self, base: &str, link: &IntakeLink) -> String {
        let IntakeLink { key, terms: IntakeTerms { generation, replaces }, until } = link;
        let (generation, until) = (generation.to_string(), until.timestamp().to_string());
        let mut parts = vec![key.namespace.to_string(), key.name.to_string(), generation, until];
        parts.extend(replaces.clone());
        address(base, INTAKE_PATH, &self.sign(INTAKE, &parts))
    }

    /// Returns the merchant, the mode and the generation of an address, if its signature is valid.
    pub(crate) fn verify_gateway_url(&self, token: &str) -> Option<VerifiedAddress<(Mode, u32)>> {
        let Some(text) = self.verify(GATEWAY, token, SEPARATOR) else {
            return self.older_merchant(token);
        };
        let (named, rest) = split_key(MERCHANT, text)?;
        let (mode, generation) = rest.split_once(SEPARATOR)?;
        let terms = (mode.parse().ok()?, generation.parse().ok()?);
        Some(VerifiedAddress { candidates: vec![named], terms })
    }

    /// Returns the application in the last part of a link, if its signature is valid.
    pub(crate) fn verify_apply_url(&self, link: &str) -> Option<VerifiedAddress<()>> {
        let Some(text) = self.verify(APPLY, link, SEPARATOR) else {
            return self.older_application(link);
        };
        let (named, _) = split_key(MerchantApplicationKind::NAME, text)?;
        Some(VerifiedAddress { candidates: vec![named], terms: () })
    }

    /// Returns the saved method and the terms in a payer's link, if its signature is valid.
    pub(crate) fn verify_intake_url(
        &self,
        link: &str,
    ) -> Option<VerifiedAddress<(IntakeTerms, DateTime<Utc>)>> {
        let Some(text) = self.verify(INTAKE, link, SEPARATOR) else {
            return self.older_payer(link);
        };
        let (named, rest) = split_key(SavedMethodKind::NAME, text)?;
        let (generation, rest) = rest.split_once(SEPARATOR)?;
        // The last part may be any text.
        let (until, replaces) = split_optional(rest, SEPARATOR);
        let terms = parse_intake_terms(generation, until, replaces)?;
        Some(VerifiedAddress { candidates: vec![named], terms })
    }

    /// Returns the generation of the Event URL that a token belongs to.
    pub(crate) fn verify_event_url(&self, token: &str) -> Option<u32> {
        let generation = token.split_once('.').map_or(Ok(0), |(number, _)| number.parse()).ok()?;
        digests_equal(token, &self.token(generation)).then_some(generation)
    }

    fn token(&self, generation: u32) -> String {
        if generation == 0 {
            return self.signature("webhook-token", "partner", TOKEN_LENGTH);
        }
        let code = self.signature("webhook-token", &format!("partner.{generation}"), TOKEN_LENGTH);
        format!("{generation}.{code}")
    }

    /// Joins the parts, and appends their signature.
    fn sign(&self, label: &str, parts: &[String]) -> String {
        let text = parts.join(&String::from(SEPARATOR));
        let code = self.signature(label, &text, SIGNATURE_LENGTH);
        format!("{text}{SEPARATOR}{code}")
    }

    /// Returns the parts of an address, if the signature behind them is valid.
    fn verify<'a>(&self, label: &str, token: &'a str, separator: char) -> Option<&'a str> {
        let (text, code) = token.rsplit_once(separator)?;
        digests_equal(code, &self.signature(label, text, SIGNATURE_LENGTH)).then_some(text)
    }

    fn signature(&self, label: &str, text: &str, length: usize) -> String {
        keyed_digest(&self.key, label, text.as_bytes()).to_string().chars().take(length).collect()
    }

    /// Returns merchant, mode and generation of an older address, if its signature is valid.
    pub(crate) fn older_merchant(&self, token: &str) -> Option<VerifiedAddress<(Mode, u32)>> {
        let text = self.verify("gateway-token", token, OLDER_SEPARATOR)?;
        let (text, generation) = split_generation(text);
        let (text, mode) = text.rsplit_once(OLDER_SEPARATOR)?;
        let terms = (mode.parse().ok()?, generation);
        Some(VerifiedAddress { candidates: candidate_keys(MERCHANT, text), terms })
    }

    /// Returns the application of an older link, if its signature is valid.
    pub(crate) fn older_application(&self, link: &str) -> Option<VerifiedAddress<()>> {
        let text = self.verify("apply-link", link, OLDER_SEPARATOR)?;
        let candidates = candidate_keys(MerchantApplicationKind::NAME, text);
        Some(VerifiedAddress { candidates, terms: () })
    }

    /// Returns the saved method and the terms of an older payer's link, if its signature is valid.
    pub(crate) fn older_payer(
        &self,
        link: &str,
    ) -> Option<VerifiedAddress<(IntakeTerms, DateTime<Utc>)>> {
        let text = self.verify("intake-link", link, OLDER_SEPARATOR)?;
        let (text, until) = text.rsplit_once(OLDER_SEPARATOR)?;
        let (text, terms) = text.rsplit_once(OLDER_SEPARATOR)?;
        let (generation, replaces) = split_optional(terms, REPLACES);
        let terms = parse_intake_terms(generation, until, replaces)?;
        Some(VerifiedAddress { candidates: candidate_keys(SavedMethodKind::NAME, text), terms })
    }
}

fn address(base: &str, path: &str, token: &str) -> String {
    format!("{}{path}{token}", base.trim_end_matches('/'))
}

fn parse_intake_terms(
    generation: &str,
    until: &str,
    replaces: Option<&str>,
) -> Option<(IntakeTerms, DateTime<Utc>)> {
    let replaces = replaces.map(str::to_owned);
    let terms = IntakeTerms { generation: generation.parse().ok()?, replaces };
    Some((terms, DateTime::from_timestamp(until.parse().ok()?, 0)?))
}

/// Returns the resource that the first two parts name, and the other parts.
fn split_key<'a>(kind: &str, text: &'a str) -> Option<(Key, &'a str)> {
    let (namespace, rest) = text.split_once(SEPARATOR)?;
    let (name, rest) = rest.split_once(SEPARATOR).unwrap_or((rest, ""));
    Some((format!("{kind}/{namespace}/{name}").parse().ok()?, rest))
}

/// Splits off an optional last part.
fn split_optional(text: &str, separator: char) -> (&str, Option<&str>) {
    text.split_once(separator).map_or((text, None), |(text, last)| (text, Some(last)))
}

/// Compares digests, so that the time of the comparison reveals nothing of the texts.
fn digests_equal(given: &str, ours: &str) -> bool {
    sha256(given.as_bytes()) == sha256(ours.as_bytes())
}

/// Returns every resource whose namespace and name, joined by a dot, are this text.
fn candidate_keys(kind: &str, text: &str) -> Vec<Key> {
    let split = text.match_indices(OLDER_SEPARATOR).map(|(at, _)| text.split_at(at));
    let key = |(namespace, name): (&str, &str)| {
        let name = name.strip_prefix(OLDER_SEPARATOR)?;
        format!("{kind}/{namespace}/{name}").parse().ok()
    };
    split.filter_map(key).collect()
}

/// Splits off the generation; generation 0 is not written. No mode is a number.
fn split_generation(named: &str) -> (&str, u32) {
    let last = named.rsplit_once(OLDER_SEPARATOR);
    let numbered = last.and_then(|(before, number)| Some((before, number.parse().ok()?)));
    numbered.unwrap_or((named, 0))
}

#[cfg(test)]
mod tests;
