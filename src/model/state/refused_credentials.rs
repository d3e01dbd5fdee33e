//! Refused credentials of a merchant: all its resources wait for a new authorisation, since a
//! `payments` token has no refresh (design.md part 3).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::observed::{FactSource, Observation};
use crate::base::hash::{Digest, canonical, sha256};
use crate::base::id::Key;

/// The credentials that the service refuses. Different credentials are tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedCredentials {
    /// The document's credentials at that time, as a digest of their canonical form without
    /// secrets.
    pub credentials: Digest,
    /// The document's generation at that time.
    pub generation: u32,
    /// Time since which they are refused.
    pub at: DateTime<Utc>,
}

/// Record of refused credentials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CredentialsRefused {
    pub merchant: Key,
    #[serde(rename = "what")]
    pub credentials: RefusedCredentials,
}

/// Returns the digest of a document's credentials, given the stored spec, whose private values are
/// digests.
pub fn credentials_digest(kept: &Value) -> Digest {
    sha256(&canonical(kept.get("credentials").unwrap_or(&Value::Null)))
}

impl RefusedCredentials {
    /// Makes the entry for a merchant's credentials, from the stored spec and its generation.
    pub fn new(kept: &Value, generation: u32, at: DateTime<Utc>) -> Self {
        Self { credentials: credentials_digest(kept), generation, at }
    }

    /// Returns whether both entries concern the same credentials.
    pub fn is_same_credentials(&self, other: &Self) -> bool {
        self.credentials == other.credentials && self.generation == other.generation
    }
}

/// Returns whether a fact shows that the service accepts a merchant's credentials: a new token, or
/// opened accounts.
pub(crate) fn proves_acceptance(fact: &Observation) -> bool {
    let told = |name: &str| fact.facts.get(name).is_some_and(|value| !value.is_null());
    let by_the_service = matches!(fact.source, FactSource::Answer | FactSource::Read);
    by_the_service && ["token", "accounts", "connected"].into_iter().any(told)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::state::observed::Observed;

    fn after(source: FactSource, facts: Value) -> bool {
        let key: Key = "Merchant/acme".parse().unwrap();
        let at = DateTime::UNIX_EPOCH;
        let mut known = Observed::unknown(key.clone(), at);
        let what = RefusedCredentials::new(&Value::Null, 0, at);
        known.unauthorised = Some(Box::new(what));
        known.apply(&Observation {
            key: key.clone(),
            merchant: key,
            at,
            source,
            remote_id: None,
            exists: None,
            applied: None,
            facts,
        });
        known.unauthorised.is_some()
    }

    #[test]
    fn only_what_the_credentials_opened_shows_that_they_are_taken_again() {
        assert!(!after(FactSource::Answer, json!({"token": {"sealed": "x"}, "accounts": null})));
        assert!(!after(FactSource::Read, json!({"accounts": []})));
        assert!(!after(FactSource::Read, json!({"connected": true})));
        assert!(after(FactSource::Read, json!({"surveyed": true})));
        assert!(after(FactSource::Operator, json!({"accounts": []})));
        assert!(after(FactSource::Answer, json!({"accounts": null})));
    }
}
