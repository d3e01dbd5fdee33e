//! Accounts that a merchant's credentials opened, and a person's approval of them.
//!
//! A merchant's first credentials bind its public keys and its mode (design.md part 2). A live
//! binding that came by an application's code waits for an approval (design.md part 5). An approval
//! names its whole subject, so that it is valid for one binding and no other.
//!
//! Refused credentials make all resources of a merchant wait for a new authorisation, since a
//! `payments` token has no refresh (design.md part 3).

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::hash::{Digest, canonical, sha256};
use crate::base::id::{Key, Mode, PublicKey};

/// The fact that holds a [`MerchantBinding`].
pub const BINDING: &str = "bound";
/// The fact that names one public key; older states have only this one.
pub(super) const PUBLIC_KEY: &str = "public_key";

/// The merchant and accounts that its credentials opened when they were read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MerchantBinding {
    pub generation: u32,
    pub mode: Mode,
    pub name: Option<String>,
    /// The public keys of the accounts of that mode, one at least.
    pub public_keys: BTreeSet<PublicKey>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LiveBinding {
    pub merchant: Key,
    pub application: Key,
    pub generation: u32,
    pub mode: Mode,
    pub name: Option<String>,
    pub public_keys: BTreeSet<PublicKey>,
}

impl LiveBinding {
    /// Makes the binding to approve, from the accounts that an application's code opened.
    pub fn new(merchant: Key, application: Key, bound: MerchantBinding) -> Self {
        let MerchantBinding { generation, mode, name, public_keys } = bound;
        Self { merchant, application, generation, mode, name, public_keys }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BindingApproval {
    /// The approved binding; the approval is valid for no other.
    pub binding: LiveBinding,
    pub at: DateTime<Utc>,
    pub actor: String,
}

pub fn has_binding_facts(facts: &Value) -> bool {
    facts.get(BINDING).is_some() || facts.get(PUBLIC_KEY).is_some()
}

/// The credentials that the service refuses. Different credentials are tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedCredentials {
    /// The document's credentials, as a digest of their canonical form without secrets.
    pub credentials: Digest,
    pub generation: u32,
    pub at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CredentialsRefused {
    pub merchant: Key,
    #[serde(rename = "what")]
    pub credentials: RefusedCredentials,
}

/// Returns the digest of the credentials of a stored spec, whose private values are digests.
pub fn credentials_digest(kept: &Value) -> Digest {
    sha256(&canonical(kept.get("credentials").unwrap_or(&Value::Null)))
}

impl RefusedCredentials {
    pub fn new(kept: &Value, generation: u32, at: DateTime<Utc>) -> Self {
        Self { credentials: credentials_digest(kept), generation, at }
    }

    pub fn is_same_credentials(&self, other: &Self) -> bool {
        self.credentials == other.credentials && self.generation == other.generation
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::state::observed::{FactSource, Observation, Observed};
    use serde_json::json;

    fn known(facts: Value) -> Observed {
        let key = "Merchant/default/acme".parse().unwrap();
        let at = "2026-11-21T12:00:00Z".parse().unwrap();
        Observed { facts, ..Observed::unknown(key, at) }
    }

    #[test]
    fn an_older_state_is_bound_by_the_one_key_that_it_knows() {
        let old = known(json!({"public_key": "m_1", "mode": "test", "merchant_name": "Acme"}));
        let new = json!({"generation": 0, "mode": "test", "name": "Acme", "public_keys": ["m_1"]});
        assert_eq!(old.merchant_binding(), known(json!({ BINDING: new })).merchant_binding());
        assert!(old.merchant_binding().is_some());
        assert_eq!(known(json!({"accounts": []})).merchant_binding(), None);
    }

    #[test]
    fn a_binding_is_written_as_one_object_and_read_back() {
        let bound = MerchantBinding {
            generation: 2,
            mode: Mode::Live,
            name: Some("Acme".to_owned()),
            public_keys: BTreeSet::from([PublicKey::new("m_1").unwrap()]),
        };
        let merchant = "Merchant/acme".parse().unwrap();
        let application = "MerchantApplication/acme".parse().unwrap();
        let binding = LiveBinding::new(merchant, application, bound);
        let said = serde_json::to_value(&binding).unwrap();
        assert_eq!(
            said,
            json!({"merchant": "Merchant/default/acme", "mode": "live", "generation": 2,
                "application": "MerchantApplication/default/acme", "name": "Acme",
                "public_keys": ["m_1"]})
        );
        let mut bytes = Vec::new();
        ciborium::into_writer(&binding, &mut bytes).unwrap();
        assert_eq!(ciborium::from_reader::<LiveBinding, _>(&*bytes).unwrap(), binding);
    }

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
