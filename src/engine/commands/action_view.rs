//! The result of an action, as plain data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::id::{Key, RemoteId};
use crate::engine::executor::failure::TaskFailure;
use crate::model::intents::intent::IntentState;
use crate::model::state::observed::Observed;

/// Status of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionStatus {
    Done,
    /// The service, or the payer's bank, refused; nothing was done.
    Refused,
    /// A person has to settle it: `intents`.
    #[serde(rename = "held")]
    OnHold,
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
pub struct ActionReport {
    /// Its key in the journal.
    pub key: Option<Key>,
    pub verb: String,
    #[serde(rename = "stands")]
    pub status: ActionStatus,
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

pub(crate) fn report(
    key: Option<Key>,
    verb: &str,
    stands: ActionStatus,
    message: String,
) -> ActionReport {
    let (verb, facts) = (verb.to_owned(), BTreeMap::new());
    ActionReport { key, verb, status: stands, before: false, message, remote_id: None, facts }
}

/// The result of an action whose try failed.
pub(crate) fn report_failure(key: &Key, verb: &str, unable: &TaskFailure) -> ActionReport {
    let stands = match unable {
        TaskFailure::Blocked(_) | TaskFailure::Waiting(_) => ActionStatus::Blocked,
        TaskFailure::Secret(_)
        | TaskFailure::Unreachable(_)
        | TaskFailure::Mismatch(_)
        | TaskFailure::Denied(_) => ActionStatus::NotSent,
    };
    report(Some(key.clone()), verb, stands, unable.message().to_owned())
}

pub(crate) fn report_done(key: &Key, verb: &str, known: &Observed) -> ActionReport {
    let open = known.facts.as_object().into_iter().flatten();
    let open = open.filter(|(_, value)| value.get("sealed").is_none() && !value.is_null());
    let mut done = report(Some(key.clone()), verb, ActionStatus::Done, "done".to_owned());
    done.remote_id = known.remote_id.as_ref().map(RemoteId::to_string);
    done.facts = open.map(|(name, value)| (name.clone(), value.clone())).collect();
    done
}

pub(crate) fn report_unsettled(key: &Key, verb: &str, state: &IntentState) -> ActionReport {
    let (stands, why) = match state {
        IntentState::OnHold { attempt: _, reason } => (ActionStatus::OnHold, reason.clone()),
        IntentState::InDoubt { attempt: _, reason } => (ActionStatus::InDoubt, reason.clone()),
        IntentState::Open { .. } | IntentState::Closed => {
            (ActionStatus::InDoubt, "in flight".to_owned())
        }
    };
    report(Some(key.clone()), verb, stands, why)
}
