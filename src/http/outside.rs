//! The addresses that face the world: made of the state's key, so that they last as long, and can be
//! guessed by nobody.
//!
//! The parts of an address are joined by [`SEPARATOR`], which no name, number or mode holds: two resources never share an
//! address. Addresses of the older form ([`older`]) stay good where one resource alone can be meant.

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
/// How long the engine may take to tell which of several resources exists.
const ONLY_MAX: Duration = Duration::from_secs(10);
/// Characters of the token in the Event URL.
const TOKEN_LENGTH: usize = 40;
/// Characters of a link's signature.
const SIGNATURE_LENGTH: usize = 32;

/// An address whose signature is ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Opened<T> {
    /// The resources that it can mean: one, or several where an address of the older form leaves that open.
    pub(super) named: Vec<Key>,
    /// What else it says.
    pub(super) terms: T,
}

impl<T> Opened<T> {
    /// The one resource that it means; of several, the one that exists. Errors: the status that says why there is none.
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
        let parts = [application.namespace.to_string(), application.name.to_string()];
        format!("{}{APPLY_PATH}{}", base.trim_end_matches('/'), self.signed(APPLY, &parts))
    }

    /// The address of a merchant's events of a mode, of this generation, beneath an address (gateway-api, Webhook rules). A secret.
    pub fn gateway_url(&self, base: &str, merchant: &Key, mode: Mode, generation: u32) -> String {
        let (namespace, name) = (merchant.namespace.to_string(), merchant.name.to_string());
        let parts = [namespace, name, mode.to_string(), generation.to_string()];
        format!("{}{GATEWAY_PATH}{}", base.trim_end_matches('/'), self.signed(GATEWAY, &parts))
    }

    /// A payer's link beneath an address. A secret: whoever has it can give details.
    pub fn intake(&self, base: &str, link: &IntakeLink) -> String {
        let IntakeLink { key, terms: Terms { generation, replaces }, until } = link;
        let (generation, until) = (generation.to_string(), until.timestamp().to_string());
        let mut parts = vec![key.namespace.to_string(), key.name.to_string(), generation, until];
        parts.extend(replaces.clone());
        format!("{}{INTAKE_PATH}{}", base.trim_end_matches('/'), self.signed(INTAKE, &parts))
    }

    /// The merchant, the mode and the generation that an address names, if its signature is ours.
    pub(super) fn merchant(&self, token: &str) -> Option<Opened<(Mode, u32)>> {
        let Some(text) = self.opened(GATEWAY, token) else { return self.older_merchant(token) };
        let (named, rest) = names("Merchant", text)?;
        let (mode, generation) = rest.split_once(SEPARATOR)?;
        Some(Opened { named: vec![named], terms: (mode.parse().ok()?, generation.parse().ok()?) })
    }

    /// The application that the last part of a link names, if its signature is ours.
    pub(super) fn application(&self, link: &str) -> Option<Opened<()>> {
        let Some(text) = self.opened(APPLY, link) else { return self.older_application(link) };
        let (named, _) = names("MerchantApplication", text)?;
        Some(Opened { named: vec![named], terms: () })
    }

    /// The saved method and the terms that the last part of a payer's link names, if its signature is ours.
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

    /// The generation of the Event URL that a token is of.
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

    /// Parts, and behind them their signature.
    fn signed(&self, label: &str, parts: &[String]) -> String {
        let text = parts.join(&String::from(SEPARATOR));
        let code = self.code(label, &text, SIGNATURE_LENGTH);
        format!("{text}{SEPARATOR}{code}")
    }

    /// The parts of an address, if the signature behind them is ours.
    fn opened<'a>(&self, label: &str, token: &'a str) -> Option<&'a str> {
        let (text, code) = token.rsplit_once(SEPARATOR)?;
        same(code, &self.code(label, text, SIGNATURE_LENGTH)).then_some(text)
    }

    fn code(&self, label: &str, text: &str, length: usize) -> String {
        keyed(&self.key, label, text.as_bytes()).to_string().chars().take(length).collect()
    }
}

/// The resource that the first two parts name, and the other parts.
fn names<'a>(kind: &str, text: &'a str) -> Option<(Key, &'a str)> {
    let (namespace, rest) = text.split_once(SEPARATOR)?;
    let (name, rest) = rest.split_once(SEPARATOR).unwrap_or((rest, ""));
    Some((format!("{kind}/{namespace}/{name}").parse().ok()?, rest))
}

/// Compares digests: how long that takes says nothing of the texts.
fn same(given: &str, ours: &str) -> bool {
    sha256(given.as_bytes()) == sha256(ours.as_bytes())
}
