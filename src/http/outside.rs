//! The public addresses: derived from the state's key, so that they last as long, and cannot be
//! guessed.
//!
//! The parts of an address are joined by [`SEPARATOR`], which no name, number or mode holds, so
//! that two resources never share an address. Addresses of the older form ([`older`]) stay valid
//! where only one resource can be meant.

mod older;
#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use axum::http::StatusCode;
use chrono::{DateTime, Utc};

use super::gate::Gate;
use crate::base::hash::{keyed, sha256};
use crate::base::id::{Key, Mode};
use crate::control::Control;
use crate::engine::{IntakeLink, Terms};

/// The path of partner notifications, without the token.
const PARTNER_PATH: &str = "/webhooks/partner/";
/// The path of gateway events, without the token.
const GATEWAY_PATH: &str = "/webhooks/gateway/";
/// The path of applicants' links.
const APPLY_PATH: &str = "/apply/";
/// The path of payers' links.
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

/// An address with a valid signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Opened<T> {
    /// The resources that the address can mean: one, or several where an address of the older form
    /// is ambiguous.
    pub(super) named: Vec<Key>,
    /// The other parts of the address.
    pub(super) terms: T,
}

impl<T> Opened<T> {
    /// Returns the resource of the address; of several, the one that exists.
    ///
    /// # Errors
    /// The status of an address without a single resource.
    pub(super) async fn only(&self, control: &Control) -> Result<Key, StatusCode> {
        if let [key] = self.named.as_slice() {
            return Ok(key.clone());
        }
        match tokio::time::timeout(ONLY_MAX, control.only(&self.named)).await {
            Ok(Ok(found)) => found.ok_or(StatusCode::NOT_FOUND),
            Ok(Err(_)) | Err(_) => Err(StatusCode::SERVICE_UNAVAILABLE),
        }
    }
}

/// Makes and verifies the public addresses.
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
    /// Derives the addresses from the key that digests are made with.
    pub fn new(digest_key: &[u8; 32]) -> Self {
        Self { key: *keyed(digest_key, "outside", b"").as_bytes(), gate: Gate::default() }
    }

    /// Restricts the posts that are accepted.
    #[must_use]
    pub fn guarded(self, gate: Gate) -> Self {
        Self { gate, ..self }
    }

    pub(super) fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Returns the partner application's Event URL of this generation beneath a base address; the
    /// service appends the reference (partner-api, Merchant application). The URL is a secret,
    /// since nothing else authenticates the service.
    pub fn event_url(&self, base: &str, generation: u32) -> String {
        format!("{}{PARTNER_PATH}{}/", base.trim_end_matches('/'), self.token(generation))
    }

    /// Returns the stable link of an applicant beneath a base address. The link is a secret: it
    /// shows the entered details.
    pub fn link(&self, base: &str, application: &Key) -> String {
        let parts = [application.namespace.to_string(), application.name.to_string()];
        format!("{}{APPLY_PATH}{}", base.trim_end_matches('/'), self.signed(APPLY, &parts))
    }

    /// Returns the address of a merchant's events of a mode, of this generation, beneath a base
    /// address (gateway-api, Webhook rules). A secret.
    pub fn gateway_url(&self, base: &str, merchant: &Key, mode: Mode, generation: u32) -> String {
        let (namespace, name) = (merchant.namespace.to_string(), merchant.name.to_string());
        let parts = [namespace, name, mode.to_string(), generation.to_string()];
        format!("{}{GATEWAY_PATH}{}", base.trim_end_matches('/'), self.signed(GATEWAY, &parts))
    }

    /// Returns a payer's link beneath a base address. The link is a secret: its holder can enter
    /// details.
    pub fn intake(&self, base: &str, link: &IntakeLink) -> String {
        let IntakeLink { key, terms: Terms { generation, replaces }, until } = link;
        let (generation, until) = (generation.to_string(), until.timestamp().to_string());
        let mut parts = vec![key.namespace.to_string(), key.name.to_string(), generation, until];
        parts.extend(replaces.clone());
        format!("{}{INTAKE_PATH}{}", base.trim_end_matches('/'), self.signed(INTAKE, &parts))
    }

    /// Returns the merchant, the mode and the generation of an address, if its signature is valid.
    pub(super) fn merchant(&self, token: &str) -> Option<Opened<(Mode, u32)>> {
        let Some(text) = self.opened(GATEWAY, token) else { return self.older_merchant(token) };
        let (named, rest) = names("Merchant", text)?;
        let (mode, generation) = rest.split_once(SEPARATOR)?;
        Some(Opened { named: vec![named], terms: (mode.parse().ok()?, generation.parse().ok()?) })
    }

    /// Returns the application in the last part of a link, if its signature is valid.
    pub(super) fn application(&self, link: &str) -> Option<Opened<()>> {
        let Some(text) = self.opened(APPLY, link) else { return self.older_application(link) };
        let (named, _) = names("MerchantApplication", text)?;
        Some(Opened { named: vec![named], terms: () })
    }

    /// Returns the saved method and the terms in the last part of a payer's link, if its signature
    /// is valid.
    pub(super) fn payer(&self, link: &str) -> Option<Opened<(Terms, DateTime<Utc>)>> {
        let Some(text) = self.opened(INTAKE, link) else { return self.older_payer(link) };
        let (named, rest) = names("SavedMethod", text)?;
        let (generation, rest) = rest.split_once(SEPARATOR)?;
        // The last part may be any text.
        let (until, replaces) = match rest.split_once(SEPARATOR) {
            Some((until, replaces)) => (until, Some(replaces.to_owned())),
            None => (rest, None),
        };
        let terms = Terms { generation: generation.parse().ok()?, replaces };
        let until = DateTime::from_timestamp(until.parse().ok()?, 0)?;
        Some(Opened { named: vec![named], terms: (terms, until) })
    }

    /// Returns the generation of the Event URL that a token belongs to.
    pub(super) fn partner(&self, token: &str) -> Option<u32> {
        let generation = token.split_once('.').map_or(Ok(0), |(number, _)| number.parse()).ok()?;
        same(token, &self.token(generation)).then_some(generation)
    }

    fn token(&self, generation: u32) -> String {
        if generation == 0 {
            return self.code("webhook-token", "partner", TOKEN_LENGTH);
        }
        let code = self.code("webhook-token", &format!("partner.{generation}"), TOKEN_LENGTH);
        format!("{generation}.{code}")
    }

    /// Joins the parts, and appends their signature.
    fn signed(&self, label: &str, parts: &[String]) -> String {
        let text = parts.join(&String::from(SEPARATOR));
        let code = self.code(label, &text, SIGNATURE_LENGTH);
        format!("{text}{SEPARATOR}{code}")
    }

    /// Returns the parts of an address, if the signature behind them is valid.
    fn opened<'a>(&self, label: &str, token: &'a str) -> Option<&'a str> {
        let (text, code) = token.rsplit_once(SEPARATOR)?;
        same(code, &self.code(label, text, SIGNATURE_LENGTH)).then_some(text)
    }

    fn code(&self, label: &str, text: &str, length: usize) -> String {
        keyed(&self.key, label, text.as_bytes()).to_string().chars().take(length).collect()
    }
}

/// Returns the resource that the first two parts name, and the other parts.
fn names<'a>(kind: &str, text: &'a str) -> Option<(Key, &'a str)> {
    let (namespace, rest) = text.split_once(SEPARATOR)?;
    let (name, rest) = rest.split_once(SEPARATOR).unwrap_or((rest, ""));
    Some((format!("{kind}/{namespace}/{name}").parse().ok()?, rest))
}

/// Compares digests, so that the time of the comparison reveals nothing of the texts.
fn same(given: &str, ours: &str) -> bool {
    sha256(given.as_bytes()) == sha256(ours.as_bytes())
}
