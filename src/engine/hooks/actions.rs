//! The actions that hooks requested, performed, through the same register, intents, limits and
//! approvals as a person's command.
//!
//! An action remains stored until it is settled; if it is repeated after a crash, its name shows
//! that it was done.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::oneshot;

use crate::base::id::Key;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::actions::ActionStatus;
use crate::engine::protocol::query::Reply;
use crate::model::events::hook::RESUME;
use crate::model::events::hook_run::{ActionOutcome, ActionRequestId, ActionResult};
use crate::model::operator::{SuspensionRequest, SuspensionResult};
use crate::model::record::Record;

/// The result of an action request, and the record that is its effect, if it has one.
pub(crate) struct ActionEnd {
    pub(crate) id: ActionRequestId,
    pub(crate) outcome: ActionOutcome,
    pub(crate) message: String,
    pub(crate) with: Option<(Record, Key)>,
}

/// Records the result of an action request, after the record that is its effect.
pub(crate) async fn settle_request(
    shared: Arc<EngineShared>,
    end: ActionEnd,
) -> EngineResult<TaskResult> {
    let ActionEnd { id, outcome, message, with } = end;
    let (first, key) = with.unzip();
    let result = ActionResult { id: id.clone(), outcome, message, at: shared.now() };
    let records = first.into_iter().chain([Record::ActionSettled(Box::new(result))]).collect();
    shared.write(Vec::new(), records).await?;
    Ok(TaskResult::ActionTried(id, true, key))
}

/// Waits until an action is settled, and records the result.
pub(crate) async fn await_action(
    shared: Arc<EngineShared>,
    id: ActionRequestId,
    answer: oneshot::Receiver<Reply>,
) -> EngineResult<TaskResult> {
    let Ok(Reply::Action(acted)) = answer.await else {
        return Ok(TaskResult::ActionTried(id, false, None));
    };
    let outcome = match acted.status {
        ActionStatus::Done => ActionOutcome::Done,
        ActionStatus::Refused => ActionOutcome::Refused,
        ActionStatus::Invalid => ActionOutcome::Invalid,
        ActionStatus::OnHold
        | ActionStatus::InDoubt
        | ActionStatus::NotSent
        | ActionStatus::Blocked => {
            tracing::info!(event = id.event, action = %id.name, reason = acted.message, "waits");
            return Ok(TaskResult::ActionTried(id, false, None));
        }
    };
    settle_request(shared, ActionEnd { id, outcome, message: acted.message, with: None }).await
}

pub(crate) fn suspend_request(verb: &str, fields: &Value) -> Option<SuspensionRequest> {
    let key: Key = fields.get("key")?.as_str()?.parse().ok()?;
    if verb == RESUME {
        return Some(SuspensionRequest::Resume { key });
    }
    let reason = fields.get("reason").and_then(Value::as_str).unwrap_or("a hook asked for it");
    let until = fields.get("until").and_then(Value::as_str).and_then(|until| until.parse().ok());
    Some(SuspensionRequest::Suspend { key, reason: reason.to_owned(), until })
}

/// Describes the result of a suspension for the journal.
pub(crate) fn suspend_message(paused: &SuspensionResult) -> String {
    match paused {
        SuspensionResult::Suspended(_) => "suspended".to_owned(),
        SuspensionResult::Resumed { .. } => "resumed".to_owned(),
        SuspensionResult::NotSuspended { .. } => "it was not suspended".to_owned(),
        SuspensionResult::Unknown { key, .. } => format!("there is no {}", key.short()),
    }
}

#[cfg(test)]
mod tests;
