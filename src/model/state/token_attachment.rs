//! A one-time token that a payer's page or a person supplied for a saved method: `source: intake`.
//!
//! The token is sealed in the vault. It works once and for five minutes, so it is soon worthless.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::clock::timestamp;
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::model::state::observed::Observed;

/// The fact that names the sealed token, with its time and generation.
pub const ATTACHED: &str = "attached";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenAttachment {
    /// The saved method, or the recurring charge that copies its details.
    pub key: Key,
    pub merchant: Key,
    pub generation: u32,
    /// The vault's name of the token.
    pub token: String,
    /// A keyed digest of the token: an equal one is the same token again.
    pub digest: Digest,
    pub at: DateTime<Utc>,
    pub actor: String,
    /// The method whose details the resource copies; `None` for the method's own token.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "beside")]
    pub copied_method: Option<CopiedMethod>,
}

/// The saved method whose token came with this one. A recurring charge copies its details, and
/// takes new ones only by a token of its own (gateway-api, PATCH /v1/recurring/charges/{id}).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiedMethod {
    pub method: Key,
    /// The digest of the method's own token: this token is used once that one is saved.
    pub token: Digest,
}

impl TokenAttachment {
    /// Returns the fact that the record establishes about the method.
    pub fn fact(&self) -> Value {
        json!({
            "sealed": self.token,
            "digest": self.digest.to_string(),
            "at": timestamp(&self.at),
            "generation": self.generation,
            "beside": self.copied_method,
        })
    }
}

/// The last token that was supplied for a resource, as its facts hold it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SuppliedToken {
    /// The vault's name of the token.
    pub sealed: String,
    pub digest: Digest,
    pub at: DateTime<Utc>,
    generation: u32,
    /// The saved method with whose token this one came, for a resource that copied its details.
    #[serde(default, rename = "beside")]
    pub copied_method: Option<CopiedMethod>,
}

impl SuppliedToken {
    /// Returns the token that was supplied for this generation and has not been used yet.
    pub fn of(known: &Observed, generation: u32) -> Option<Self> {
        let brought: Self = serde_json::from_value(known.fact(ATTACHED).clone()).ok()?;
        (brought.generation == generation).then_some(brought)
    }

    /// Returns the value for a token's details in the applied spec.
    pub fn details_marker(token: Digest) -> Value {
        json!({"digest": token.short()})
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwaitedDetails {
    pub key: Key,
    pub method_type: &'static str,
    /// The failure of the latest token, or the reason for the wait, for people.
    pub failure: Option<String>,
    /// The payer's details replace a method that is saved already.
    pub replaces: bool,
}

impl fmt::Display for AwaitedDetails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, method_type: sort, failure: trouble, replaces } = self;
        let name = key.short();
        if let Some(trouble) = trouble {
            write!(f, "{trouble}; ")?;
        }
        let (once_more, flag) = if *replaces { (" once more", " --replace") } else { ("", "") };
        write!(
            f,
            "waits for the payer's {sort}{once_more}: `reckon link {name}` prints the link to send, `reckon attach \
             {name}{flag} --token TOKEN` supplies a token that you have"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::hash::sha256;

    fn attachment() -> TokenAttachment {
        TokenAttachment {
            key: "SavedMethod/default/jane".parse().unwrap(),
            merchant: "Merchant/default/acme".parse().unwrap(),
            generation: 2,
            token: "00".to_owned(),
            digest: sha256(b"t"),
            at: "2026-11-21T18:00:00Z".parse().unwrap(),
            actor: "payer".to_owned(),
            copied_method: None,
        }
    }

    #[test]
    fn a_token_is_of_the_generation_that_it_was_brought_for() {
        let one = attachment();
        let mut known = Observed::unknown(one.merchant.clone(), one.at);
        assert_eq!(SuppliedToken::of(&known, 2), None);
        known.facts = json!({ ATTACHED: one.fact() });
        let brought = SuppliedToken::of(&known, 2).unwrap();
        assert_eq!(
            (brought.sealed.as_str(), brought.digest, brought.at),
            ("00", one.digest, one.at)
        );
        assert_eq!(SuppliedToken::of(&known, 1), None);
        assert_eq!(SuppliedToken::of(&known, 3), None);
    }

    #[test]
    fn a_token_for_what_copied_details_names_whose_they_are_and_older_records_have_none() {
        let method: Key = "SavedMethod/default/jane".parse().unwrap();
        let beside = CopiedMethod { method, token: sha256(b"m") };
        let one = TokenAttachment { copied_method: Some(beside.clone()), ..attachment() };
        let known = Observed::unknown(one.merchant.clone(), one.at);
        let known = Observed { facts: json!({ ATTACHED: one.fact() }), ..known };
        assert_eq!(SuppliedToken::of(&known, 2).unwrap().copied_method, Some(beside));
        let stored = serde_json::to_value(attachment()).unwrap();
        assert!(stored.get("beside").is_none(), "{stored}");
        assert_eq!(serde_json::from_value::<TokenAttachment>(stored).unwrap(), attachment());
    }

    #[test]
    fn whoever_waits_is_told_what_to_do() {
        let key = attachment().key;
        let awaited = AwaitedDetails {
            key: key.clone(),
            method_type: "card",
            failure: None,
            replaces: false,
        };
        let told = awaited.to_string();
        assert!(told.starts_with("waits for the payer's card: `reckon link SavedMethod/jane`"));
        let trouble = Some("it came too late".to_owned());
        let late = AwaitedDetails { key, method_type: "bank", failure: trouble, replaces: true };
        let told = late.to_string();
        assert!(told.starts_with("it came too late; waits for the payer's bank once more: "));
        assert!(
            told.contains("`reckon attach SavedMethod/jane --replace --token TOKEN`"),
            "{told}"
        );
    }
}
