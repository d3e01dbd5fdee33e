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
    /// For what copied a saved method's details: whose it copied. None for the method's own token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Beside>,
}

/// The saved method that a token was brought beside: a recurring charge copies the details of its method, and the
/// service takes other ones by a token of its own alone (gateway-api, PATCH /v1/recurring/charges/{id}).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    /// The saved method.
    pub method: Key,
    /// The digest of the token that came for the method itself: this one is used once that one is saved.
    pub token: Digest,
}

impl Attachment {
    /// What is known of the method by it, as a fact.
    pub fn fact(&self) -> Value {
        json!({
            "sealed": self.token,
            "digest": self.digest.to_string(),
            "at": timestamp(&self.at),
            "generation": self.generation,
            "beside": self.beside,
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
    /// The saved method that it was brought beside, for what copied that one's details.
    #[serde(default)]
    pub beside: Option<Beside>,
}

impl Brought {
    /// The token that was brought for this generation and has not made anything yet.
    pub fn of(known: &Observed, generation: u32) -> Option<Self> {
        let brought: Self = serde_json::from_value(known.fact(ATTACHED).clone()).ok()?;
        (brought.generation == generation).then_some(brought)
    }

    /// What stands for the details that a token gave, where what was put on the service is written down.
    pub fn given(token: Digest) -> Value {
        json!({"digest": token.short()})
    }
}

/// What a saved method without details waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Awaited {
    /// The saved method.
    pub key: Key,
    /// `card` or `bank`.
    pub sort: &'static str,
    /// Why the token that came last made nothing, or what it is that waits, for people.
    pub trouble: Option<String>,
    /// Whether something is saved already, which the payer's details replace.
    pub replaces: bool,
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, sort, trouble, replaces } = self;
        let name = key.short();
        if let Some(trouble) = trouble {
            write!(f, "{trouble}; ")?;
        }
        let (once_more, flag) = if *replaces { (" once more", " --replace") } else { ("", "") };
        write!(
            f,
            "waits for the payer's {sort}{once_more}: `reckon link {name}` prints the link to send, \
             `reckon attach {name}{flag} --token TOKEN` brings a token that you have"
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
            beside: None,
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
    fn a_token_for_what_copied_details_names_whose_they_are_and_older_records_have_none() {
        let method: Key = "SavedMethod/default/jane".parse().unwrap();
        let beside = Beside { method, token: sha256(b"m") };
        let one = Attachment { beside: Some(beside.clone()), ..attachment() };
        let known = Observed::unknown(one.merchant.clone(), one.at);
        let known = Observed { facts: json!({ ATTACHED: one.fact() }), ..known };
        assert_eq!(Brought::of(&known, 2).unwrap().beside, Some(beside));
        let stored = serde_json::to_value(attachment()).unwrap();
        assert!(stored.get("beside").is_none(), "{stored}");
        assert_eq!(serde_json::from_value::<Attachment>(stored).unwrap(), attachment());
    }

    #[test]
    fn whoever_waits_is_told_what_to_do() {
        let key = attachment().key;
        let awaited = Awaited { key: key.clone(), sort: "card", trouble: None, replaces: false };
        let told = awaited.to_string();
        assert!(told.starts_with("waits for the payer's card: `reckon link SavedMethod/jane`"));
        let trouble = Some("it came too late".to_owned());
        let late = Awaited { key, sort: "bank", trouble, replaces: true };
        let told = late.to_string();
        assert!(told.starts_with("it came too late; waits for the payer's bank once more: "));
        assert!(
            told.contains("`reckon attach SavedMethod/jane --replace --token TOKEN`"),
            "{told}"
        );
    }
}
