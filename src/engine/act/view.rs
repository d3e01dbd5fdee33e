//! The result of an action, as plain data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::id::{Key, RemoteId};
use crate::engine::Unable;
use crate::model::intent::IntentState;
use crate::model::observed::Observed;

/// Status of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stands {
    Done,
    /// The service, or the payer's bank, refused; nothing was done.
    Refused,
    /// A person has to settle it: `intents`.
    Held,
    /// Its answer was lost, and is being settled.
    InDoubt,
    /// No call was sent, and none will be.
    NotSent,
    /// It cannot be sent now; nothing was.
    Blocked,
    /// The request is invalid.
    Invalid,
}

/// The result of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acted {
    /// Its key in the journal.
    pub key: Option<Key>,
    pub verb: String,
    pub stands: Stands,
    /// True if it was done before: this time nothing was sent.
    pub before: bool,
    /// One sentence for people.
    pub message: String,
    /// The id of the object on the service, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remote_id: Option<String>,
    /// Known properties of the object; no sealed ones.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub facts: BTreeMap<String, Value>,
}

pub(super) fn told(key: Option<Key>, verb: &str, stands: Stands, message: String) -> Acted {
    let (verb, facts) = (verb.to_owned(), BTreeMap::new());
    Acted { key, verb, stands, before: false, message, remote_id: None, facts }
}

/// The result of an action whose try failed.
pub(super) fn because(key: &Key, verb: &str, unable: &Unable) -> Acted {
    let stands = match unable {
        Unable::Blocked(_) | Unable::Waiting(_) => Stands::Blocked,
        Unable::Secret(_) | Unable::Unreachable(_) | Unable::Mismatch(_) | Unable::Denied(_) => {
            Stands::NotSent
        }
    };
    told(Some(key.clone()), verb, stands, unable.message().to_owned())
}

pub(super) fn done(key: &Key, verb: &str, known: &Observed) -> Acted {
    let open = known.facts.as_object().into_iter().flatten();
    let open = open.filter(|(_, value)| value.get("sealed").is_none() && !value.is_null());
    let mut done = told(Some(key.clone()), verb, Stands::Done, "done".to_owned());
    done.remote_id = known.remote_id.as_ref().map(RemoteId::to_string);
    done.facts = open.map(|(name, value)| (name.clone(), value.clone())).collect();
    done
}

pub(super) fn unsettled(key: &Key, verb: &str, state: &IntentState) -> Acted {
    let (stands, why) = match state {
        IntentState::Held { attempt: _, reason } => (Stands::Held, reason.clone()),
        IntentState::InDoubt { attempt: _, reason } => (Stands::InDoubt, reason.clone()),
        IntentState::Open { .. } | IntentState::Closed => {
            (Stands::InDoubt, "it is on its way".to_owned())
        }
    };
    told(Some(key.clone()), verb, stands, why)
}
