//! The result of an action, as plain data.

use std::collections::BTreeMap;

use crate::base::id::{Key, RemoteId};
use crate::engine::handles::failure::TaskFailure;
use crate::engine::protocol::commands::action_view::{ActionReport, ActionStatus};
use crate::model::intents::intent::IntentState;
use crate::model::state::observed::Observed;

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
