//! The actions that hooks requested, performed, through the same register, intents, limits and
//! approvals as a person's command.
//!
//! An action remains stored until it is settled; if it is repeated after a crash, its name shows
//! that it was done.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::base::id::Key;
use crate::engine::handles::shared::{EngineError, EngineShared};
use crate::engine::handles::task_result::TaskResult;
use crate::engine::hooks::scripts::Scripts;
use crate::engine::hooks::sealed_words;
use crate::engine::known::known_state;
use crate::engine::protocol::actions::ActionStatus;
use crate::engine::protocol::query::Reply;
use crate::engine::scheduler::backoff;
use crate::model::events::hook::RESUME;
use crate::model::events::hook_run::{ActionOutcome, ActionRequestId, ActionResult, PendingAction};
use crate::model::operator::{SuspensionRequest, SuspensionResult};
use crate::model::record::Record;

/// Longest wait of an action for its next try, unless the action itself asks for a longer one.
const AGAIN_MAX: Duration = Duration::from_mins(5);

pub(crate) enum DueAction {
    Perform(Box<PendingAction>),
    /// It cannot be performed, for this reason.
    Invalid(ActionRequestId, String),
}

/// The result of an action request, and the record that is its effect, if it has one.
pub(crate) struct ActionEnd {
    pub(crate) id: ActionRequestId,
    pub(crate) outcome: ActionOutcome,
    pub(crate) message: String,
    pub(crate) with: Option<(Record, Key)>,
}

impl Scripts {
    /// Returns the next due action request that has a slot. Requests that are settled, or that wait
    /// for a person or a later time, are passed over.
    pub(crate) fn next_due_action(
        &mut self,
        shared: &EngineShared,
        now: DateTime<Utc>,
    ) -> Result<Option<DueAction>, EngineError> {
        while let Some(id) = self.agenda.start() {
            if let Some(due) = self.due_action(&id, shared, now)? {
                return Ok(Some(due));
            }
        }
        Ok(None)
    }

    fn due_action(
        &mut self,
        id: &ActionRequestId,
        shared: &EngineShared,
        now: DateTime<Utc>,
    ) -> Result<Option<DueAction>, EngineError> {
        let Some(pending) = shared.facts.pending(id)? else {
            self.agenda.end(id);
            return Ok(None);
        };
        if known_state::unprovable_action_reason(&shared.facts, &pending)?.is_some() {
            self.agenda.end(id);
            return Ok(None);
        }
        if let Some(at) = pending.request.at.filter(|at| *at > now) {
            self.agenda.reschedule(id, backoff::instant_of(now, at));
            return Ok(None);
        }
        let opened = sealed_words::open(&shared.vault, pending.request.clone())?;
        Ok(Some(if let Some(request) = opened {
            DueAction::Perform(Box::new(PendingAction { request, ..pending }))
        } else {
            let why = format!("its words were erased with {}", id.merchant.short());
            DueAction::Invalid(id.clone(), why)
        }))
    }

    /// Notes the end of a try of an action; one that is not settled is tried again after a growing,
    /// random wait.
    pub(crate) fn action_tried(
        &mut self,
        id: &ActionRequestId,
        settled: bool,
        shared: &EngineShared,
    ) {
        if settled {
            return self.agenda.end(id);
        }
        let tries = self.agenda.count_try(id);
        let wait = shared.random(|rng| backoff::jittered_delay(tries, rng)).min(AGAIN_MAX);
        self.agenda.reschedule(id, Instant::now().checked_add(wait));
    }
}

/// Records the result of an action request, after the record that is its effect.
pub(crate) async fn settle_request(
    shared: Arc<EngineShared>,
    end: ActionEnd,
) -> Result<TaskResult, EngineError> {
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
) -> Result<TaskResult, EngineError> {
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
