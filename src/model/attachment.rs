//! A one-time token that a payer's page, or a person, brought for a saved method: `source: intake`.
//!
//! The token itself is sealed in the vault. It works once and for five minutes, so it is worth nothing to whoever
//! finds it later.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::clock::timestamp;
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::model::observed::Observed;

/// The fact that names the sealed token, and tells when it came and for which generation.
pub const ATTACHED: &str = "attached";

/// A token that was brought: the record of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// The saved method.
    pub key: Key,
    /// Its merchant.
    pub merchant: Key,
    /// The generation of the document that it was brought for.
    pub generation: u32,
    /// The vault's name of the token.
    pub token: String,
    /// A keyed digest of the token: an equal one is the same token again.
    pub digest: Digest,
    /// When it came.
    pub at: DateTime<Utc>,
    /// Who brought it.
    pub actor: String,
}

impl Attachment {
    /// What is known of the method by it, as a fact.
    pub fn fact(&self) -> Value {
        json!({
            "sealed": self.token,
            "digest": self.digest.to_string(),
            "at": timestamp(&self.at),
            "generation": self.generation,
        })
    }
}

/// What is known of the token that was brought last for a generation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Brought {
    /// The vault's name of the token.
    pub sealed: String,
    /// A keyed digest of the token.
    pub digest: Digest,
    /// When it came.
    pub at: DateTime<Utc>,
    generation: u32,
}

impl Brought {
    /// The token that was brought for this generation and has not made anything yet.
    pub fn of(known: &Observed, generation: u32) -> Option<Self> {
        let brought: Self = serde_json::from_value(known.fact(ATTACHED).clone()).ok()?;
        (brought.generation == generation).then_some(brought)
    }
}

/// What a saved method without details waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Awaited {
    /// The saved method.
    pub key: Key,
    /// `card` or `bank`.
    pub sort: &'static str,
    /// Why the token that came last made nothing, for people.
    pub trouble: Option<String>,
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, sort, trouble } = self;
        let name = key.short();
        if let Some(trouble) = trouble {
            write!(f, "{trouble}; ")?;
        }
        write!(
            f,
            "waits for the payer's {sort}: `reckon link {name}` prints the link to send, \
             `reckon attach {name} --token TOKEN` brings a token that you have"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::hash::sha256;

    fn attachment() -> Attachment {
        Attachment {
            key: "SavedMethod/default/jane".parse().unwrap(),
            merchant: "Merchant/default/acme".parse().unwrap(),
            generation: 2,
            token: "00".to_owned(),
            digest: sha256(b"t"),
            at: "2026-11-21T18:00:00Z".parse().unwrap(),
            actor: "payer".to_owned(),
        }
    }

    #[test]
    fn a_token_is_of_the_generation_that_it_was_brought_for() {
        let one = attachment();
        let mut known = Observed::unknown(one.merchant.clone(), one.at);
        assert_eq!(Brought::of(&known, 2), None);
        known.facts = json!({ ATTACHED: one.fact() });
        let brought = Brought::of(&known, 2).unwrap();
        assert_eq!(
            (brought.sealed.as_str(), brought.digest, brought.at),
            ("00", one.digest, one.at)
        );
        assert_eq!(Brought::of(&known, 1), None);
        assert_eq!(Brought::of(&known, 3), None);
    }

    #[test]
    fn whoever_waits_is_told_what_to_do() {
        let key = attachment().key;
        let awaited = Awaited { key: key.clone(), sort: "card", trouble: None };
        let told = awaited.to_string();
        assert!(told.starts_with("waits for the payer's card: `reckon link SavedMethod/jane`"));
        let late = Awaited { key, sort: "bank", trouble: Some("it came too late".to_owned()) };
        assert!(late.to_string().starts_with("it came too late; waits for the payer's bank: "));
    }
}
