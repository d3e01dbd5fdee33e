//! The latest known fact about each resource.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key, RemoteId};
use crate::model::absence::Absence;
use crate::model::adoption::Stray;
use crate::model::bound::Approval;
use crate::model::class::may_pass;
use crate::model::manifest::Deletion;
use crate::model::payment::Payments;
use crate::model::service_problem::ServiceProblem;
use crate::model::unauthorised::{Unauthorised, opens};

/// Where a fact came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The answer to our own call.
    Answer,
    /// We read it.
    Read,
    /// The service told us by itself: a hint.
    Notice,
    /// A person said so.
    Operator,
}

/// One fact about one resource, its source and time. Fields that are `None` say nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The resource.
    pub key: Key,
    /// The merchant it belongs to.
    pub merchant: Key,
    /// When the fact was true.
    pub at: DateTime<Utc>,
    /// Who says so.
    pub source: Source,
    /// The id that the service gave. A creation whose id is unknown leaves it out.
    pub remote_id: Option<RemoteId>,
    /// Whether the remote object exists.
    pub exists: Option<bool>,
    /// What was put on the service: the spec, private values as digests.
    pub applied: Option<Applied>,
    /// What the kind knows of the object (status, accounts …): top-level fields replace older ones,
    /// a null removes one.
    pub facts: Value,
}

/// A spec as it was put on the service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Applied {
    /// The canonical spec with private values replaced by keyed digests.
    pub spec: Value,
    /// The manifest's digest: an equal one wants nothing new.
    pub digest: Digest,
    /// The generation it was made under.
    pub generation: u32,
    /// What its document said about removal.
    pub deletion: Deletion,
}

/// A refusal by the service: the same wish is not sent again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// The intent that was refused.
    pub intent: IntentId,
    /// The manifest's digest then.
    pub digest: Digest,
    /// The HTTP status.
    pub status: u16,
    /// The service's words.
    pub problem: ServiceProblem,
    /// When.
    pub at: DateTime<Utc>,
}

impl Refusal {
    /// Returns whether the service may accept the same later, without a change of the document.
    pub fn may_pass(&self) -> bool {
        may_pass(self.problem.code())
    }

    /// Returns whether the service does not know the one-time token: it was used, or has ended.
    pub fn lacks_token(&self) -> bool {
        self.problem.lacks("Token")
    }
}

/// Why a resource is on hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// The intent that cannot be settled, if one is the cause.
    pub intent: Option<IntentId>,
    /// Why, in a sentence.
    pub reason: String,
    /// Since when.
    pub at: DateTime<Utc>,
}

/// The latest known state of one resource, folded from observations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// The merchant it belongs to.
    pub merchant: Key,
    /// The service's id, where one is known.
    pub remote_id: Option<RemoteId>,
    /// Whether the remote object exists.
    pub exists: bool,
    /// What was last put on the service.
    pub applied: Option<Applied>,
    /// What the kind knows of it.
    pub facts: Value,
    /// The last refusal, until something succeeds.
    pub refusal: Option<Refusal>,
    /// Why nothing is done to it.
    pub held: Option<Held>,
    /// How often it was made again because nothing could prove the first try: possible orphans.
    pub remade: u32,
    /// Another merchant, to which the public keys that were read for this one are bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rival: Option<Box<Key>>,
    /// The live binding of a merchant that a person approved last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Box<Approval>>,
    /// The service takes the credentials of this merchant no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unauthorised: Option<Box<Unauthorised>>,
    /// The names that it had before, the first one first: that one is its name on the service.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<Key>,
    /// The name that what was known under this one has by now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<Box<Key>>,
    /// What is known of its document's absence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absence: Option<Box<Absence>>,
    /// Objects with marks of ours that stand in its way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strays: Vec<Stray>,
    /// When what was put on the service, its id or its existence last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<DateTime<Utc>>,
    /// The payments that it collected, or tried to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payments: Option<Box<Payments>>,
    /// The time of the newest fact.
    pub at: DateTime<Utc>,
    /// The source of the newest fact.
    pub source: Source,
}

impl Observed {
    /// Nothing is known yet but whose it is.
    pub fn unknown(merchant: Key, at: DateTime<Utc>) -> Self {
        Self {
            merchant,
            remote_id: None,
            exists: false,
            applied: None,
            facts: Value::Object(serde_json::Map::new()),
            refusal: None,
            held: None,
            remade: 0,
            rival: None,
            approval: None,
            unauthorised: None,
            former: Vec::new(),
            moved_to: None,
            absence: None,
            strays: Vec::new(),
            changed: None,
            payments: None,
            at,
            source: Source::Operator,
        }
    }

    /// Takes in one more fact. What was read earlier than what is known changes nothing (law 3);
    /// the answer to our own call is always news, whatever the clock did.
    pub fn learn(&mut self, fact: &Observation) {
        if (fact.source == Source::Read && fact.at < self.at) || self.outranks(fact) {
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
        merge(&mut self.facts, &fact.facts);
        self.unauthorised.take_if(|_| opens(fact));
    }

    /// Whether a fact says something else of the object itself than what is known.
    fn is_changed_by(&self, fact: &Observation) -> bool {
        let put = |one: &Option<Applied>| one.as_ref().map(|one| (one.digest, one.generation));
        fact.exists.is_some_and(|exists| exists != self.exists)
            || (fact.remote_id.is_some() && fact.remote_id != self.remote_id)
            || (fact.applied.is_some() && put(&fact.applied) != put(&self.applied))
    }

    /// Provisioned beats declined, never the reverse (law 3), as far as both speak of one submission.
    fn outranks(&self, fact: &Observation) -> bool {
        let says = |facts: &Value, state: &str| facts.get("state").is_some_and(|one| one == state);
        fact.source == Source::Notice
            && says(&self.facts, "provisioned")
            && says(&fact.facts, "declined")
            && fact.facts.get("mark") == self.facts.get("mark")
            && !crate::base::planted::is("older-event-wins")
    }

    /// Its first name, where it has another one by now.
    pub fn origin(&self) -> Option<&Key> {
        self.former.first()
    }

    /// One fact by its name, null when it is not known.
    pub fn fact(&self, name: &str) -> &Value {
        self.facts.get(name).unwrap_or(&Value::Null)
    }

    /// One fact as a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fact(name).as_str()
    }
}

/// Replaces top-level fields of `facts` by those of `news`; a null removes.
fn merge(facts: &mut Value, news: &Value) {
    let (Some(facts), Some(news)) = (facts.as_object_mut(), news.as_object()) else {
        return;
    };
    for (name, value) in news {
        if value.is_null() {
            facts.remove(name);
        } else {
            facts.insert(name.clone(), value.clone());
        }
    }
}
