//! Observations, and the latest known state of each resource.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key, Mode, PublicKey, RemoteId};
use crate::model::error_class::may_pass;
use crate::model::manifest::Deletion;
use crate::model::outcome::ServiceProblem;
use crate::model::state::credentials::{
    BINDING, BindingApproval, MerchantBinding, PUBLIC_KEY, RefusedCredentials,
};
use crate::model::state::health::Payments;
use crate::model::state::orphan::{MissingDocument, UnknownObject};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactSource {
    Answer,
    Read,
    /// A webhook from the service: a hint.
    #[serde(rename = "notice")]
    Webhook,
    Operator,
}

/// One fact about one resource, with its source and time. Fields that are `None` state nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    pub key: Key,
    pub merchant: Key,
    /// Time at which the fact was true.
    pub at: DateTime<Utc>,
    pub source: FactSource,
    /// The id that the service gave; `None` for a creation whose id is unknown.
    pub remote_id: Option<RemoteId>,
    pub exists: Option<bool>,
    /// The spec that was put on the service, private values as digests.
    pub applied: Option<AppliedSpec>,
    /// Facts of the kind (status, accounts …): each replaces an older one, a null removes it.
    pub facts: Value,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AppliedSpec {
    /// The canonical spec with private values replaced by keyed digests.
    pub spec: Value,
    /// The manifest's digest: an equal one requires no change.
    pub digest: Digest,
    pub generation: u32,
    pub deletion: Deletion,
}

/// A refusal by the service: the same desired state is not sent again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServiceRefusal {
    pub intent: IntentId,
    pub digest: Digest,
    pub status: u16,
    pub problem: ServiceProblem,
    pub at: DateTime<Utc>,
}

impl ServiceRefusal {
    /// Returns whether the service may accept the same later, without a change of the document.
    pub fn may_pass(&self) -> bool {
        may_pass(self.problem.code())
    }

    /// Returns whether the service does not know the one-time token: it was used, or has ended.
    pub fn lacks_token(&self) -> bool {
        self.problem.lacks("Token")
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OnHold {
    /// The intent that cannot be settled, if one is the cause.
    pub intent: Option<IntentId>,
    pub reason: String,
    pub at: DateTime<Utc>,
}

/// The latest known state of one resource, folded from observations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    pub merchant: Key,
    pub remote_id: Option<RemoteId>,
    pub exists: bool,
    pub applied: Option<AppliedSpec>,
    pub facts: Value,
    pub refusal: Option<ServiceRefusal>,
    /// The hold, while no effect is done for the resource.
    #[serde(rename = "held")]
    pub on_hold: Option<OnHold>,
    /// Number of repeated creations without proof of the first try: possible orphans.
    #[serde(rename = "remade")]
    pub recreated: u32,
    /// Another merchant, to which the public keys that were read for this one are bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rival: Option<Box<Key>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Box<BindingApproval>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unauthorised: Option<Box<RefusedCredentials>>,
    /// The resource's former names, the first one first: that one is its name on the service.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<Key>,
    /// The new name that took over the facts of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<Box<Key>>,
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "absence")]
    pub missing_document: Option<Box<MissingDocument>>,
    /// Unknown objects with marks of ours that block the resource.
    #[serde(default, skip_serializing_if = "Vec::is_empty", rename = "strays")]
    pub unknown_objects: Vec<UnknownObject>,
    /// Time of the last change of its existence, its id, or the spec that was put on the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payments: Option<Box<Payments>>,
    pub at: DateTime<Utc>,
    pub source: FactSource,
}

impl Observed {
    /// Makes the state of a resource of which only the merchant is known.
    pub fn unknown(merchant: Key, at: DateTime<Utc>) -> Self {
        Self {
            merchant,
            remote_id: None,
            exists: false,
            applied: None,
            facts: Value::Object(serde_json::Map::new()),
            refusal: None,
            on_hold: None,
            recreated: 0,
            rival: None,
            approval: None,
            unauthorised: None,
            former: Vec::new(),
            moved_to: None,
            missing_document: None,
            unknown_objects: Vec::new(),
            changed: None,
            payments: None,
            at,
            source: FactSource::Operator,
        }
    }

    /// Applies one more fact. A reading older than the known state changes nothing (law 3); the
    /// answer to our own call always counts as new, whatever its clock time.
    pub fn apply(&mut self, fact: &Observation) {
        if (fact.source == FactSource::Read && fact.at < self.at) || self.outranks(fact) {
            return;
        }
        if self.is_changed_by(fact) {
            self.changed = Some(fact.at);
        }
        self.at = self.at.max(fact.at);
        self.source = fact.source;
        self.merchant = fact.merchant.clone();
        self.exists = fact.exists.unwrap_or(self.exists);
        if fact.remote_id.is_some() {
            self.remote_id.clone_from(&fact.remote_id);
        }
        if fact.applied.is_some() {
            self.applied.clone_from(&fact.applied);
        }
        merge_facts(&mut self.facts, &fact.facts);
        self.unauthorised.take_if(|_| proves_acceptance(fact));
    }

    /// Returns whether a fact contradicts the known state of the object itself.
    fn is_changed_by(&self, fact: &Observation) -> bool {
        let put = |one: &Option<AppliedSpec>| one.as_ref().map(|one| (one.digest, one.generation));
        fact.exists.is_some_and(|exists| exists != self.exists)
            || (fact.remote_id.is_some() && fact.remote_id != self.remote_id)
            || (fact.applied.is_some() && put(&fact.applied) != put(&self.applied))
    }

    /// Returns whether the known state outranks a fact: provisioned beats declined, never the
    /// reverse (law 3), as far as both concern one submission.
    fn outranks(&self, fact: &Observation) -> bool {
        let says = |facts: &Value, state: &str| facts.get("state").is_some_and(|one| one == state);
        fact.source == FactSource::Webhook
            && says(&self.facts, "provisioned")
            && says(&fact.facts, "declined")
            && fact.facts.get("mark") == self.facts.get("mark")
            && !crate::base::fault_injection::is_active("older-event-wins")
    }

    pub fn first_name(&self) -> Option<&Key> {
        self.former.first()
    }

    pub fn fact(&self, name: &str) -> &Value {
        self.facts.get(name).unwrap_or(&Value::Null)
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.fact(name).as_str()
    }

    /// Returns the accounts that the merchant's credentials opened; `None` while none were read.
    pub fn merchant_binding(&self) -> Option<MerchantBinding> {
        match self.facts.get(BINDING) {
            Some(said) => MerchantBinding::deserialize(said).ok(),
            None => self.binding_from_single_key(),
        }
    }

    /// Reads the binding of a state that was written before all public keys were kept.
    fn binding_from_single_key(&self) -> Option<MerchantBinding> {
        let key = PublicKey::new(self.text(PUBLIC_KEY)?).ok()?;
        Some(MerchantBinding {
            generation: self.applied.as_ref().map_or(0, |applied| applied.generation),
            mode: Mode::deserialize(self.fact("mode")).ok()?,
            name: self.text("merchant_name").map(str::to_owned),
            public_keys: BTreeSet::from([key]),
        })
    }
}

/// Replaces top-level fields of `facts` by those of `news`; a null removes.
fn merge_facts(facts: &mut Value, news: &Value) {
    let (Some(facts), Some(news)) = (facts.as_object_mut(), news.as_object()) else { return };
    for (name, value) in news {
        if value.is_null() {
            facts.remove(name);
        } else {
            facts.insert(name.clone(), value.clone());
        }
    }
}

/// Returns whether the service accepts the credentials: a new token, or opened accounts.
pub(crate) fn proves_acceptance(fact: &Observation) -> bool {
    let told = |name: &str| fact.facts.get(name).is_some_and(|value| !value.is_null());
    let by_the_service = matches!(fact.source, FactSource::Answer | FactSource::Read);
    by_the_service && ["token", "accounts", "connected"].into_iter().any(told)
}
