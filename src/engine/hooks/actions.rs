//! Performs the actions that hooks requested, through the same register, intents, limits and
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

use super::sealed_words;
use crate::base::id::Key;
use crate::engine::commands::action::ActionCommand;
use crate::engine::commands::action_view::ActionStatus;
use crate::engine::core::coordinator::Engine;
use crate::engine::core::handles::{EngineError, EngineShared};
use crate::engine::core::task_result::TaskResult;
use crate::engine::executor::epoch;
use crate::engine::queries::protocol::Reply;
use crate::engine::scheduler::backoff;
use crate::model::action::Action;
use crate::model::events::hook::{NOTIFY, RECONCILE, RESUME, SUSPEND};
use crate::model::events::hook_run::{ActionOutcome, ActionRequestId, ActionResult, PendingAction};
use crate::model::operator::suspension::{SuspensionRequest, SuspensionResult};
use crate::model::record::Record;

/// Longest wait of an action for its next try, unless the action itself asks for a longer one.
const AGAIN_MAX: Duration = Duration::from_mins(5);

impl Engine {
    /// Performs the hooks' actions that are due and have a slot.
    pub(crate) fn dispatch_actions(&mut self) -> Result<(), EngineError> {
        self.scripts.next_action = None;
        if self.stopping {
            return Ok(());
        }
        let now = self.shared.now();
        self.scripts.agenda.wake(&self.shared.facts, now)?;
        while let Some(id) = self.scripts.agenda.start() {
            self.start_action_request(&id, now)?;
        }
        self.scripts.next_action = self.scripts.agenda.next_due(now);
        Ok(())
    }

    /// Starts an action, unless it is settled or waits for a person: then [`Self::redispatch_actions`] finds
    /// it again.
    fn start_action_request(
        &mut self,
        id: &ActionRequestId,
        now: DateTime<Utc>,
    ) -> Result<(), EngineError> {
        let pending = self.shared.facts.pending(id)?;
        let Some(pending) = pending else {
            self.scripts.agenda.end(id);
            return Ok(());
        };
        if epoch::unprovable_action_reason(&self.shared.facts, &pending)?.is_some() {
            self.scripts.agenda.end(id);
            return Ok(());
        }
        if let Some(at) = pending.request.at.filter(|at| *at > now) {
            self.scripts.agenda.reschedule(id, backoff::instant_of(now, at));
            return Ok(());
        }
        let Some(wish) = sealed_words::open(&self.shared.vault, pending.request.clone())? else {
            let why = format!("its words were erased with {}", id.merchant.short());
            self.settle_action_request(id.clone(), ActionOutcome::Invalid, why, None);
            return Ok(());
        };
        let pending = PendingAction { request: wish, ..pending };
        match pending.request.verb.as_str() {
            SUSPEND | RESUME => self.suspend_for(pending),
            RECONCILE => self.reconcile_for(pending),
            NOTIFY => self.notify_for(&pending),
            _ => self.run_action_for(pending),
        }
        Ok(())
    }

    /// Checks every action again: one that waited for a person may be permitted now.
    pub(crate) fn redispatch_actions(&mut self) -> Result<(), EngineError> {
        self.scripts.agenda.reload();
        self.dispatch_actions()
    }

    /// Performs an action like a person's command.
    fn run_action_for(&mut self, pending: PendingAction) {
        let PendingAction { id, request: wish, script, .. } = pending;
        let (Some(merchant), Ok(name)) = (wish.merchant, id.action_name()) else {
            return self.settle_action_request(
                id,
                ActionOutcome::Invalid,
                "no merchant is named".to_owned(),
                None,
            );
        };
        let action = Action { verb: wish.verb, merchant, name: Some(name), fields: wish.fields };
        let (reply, answer) = oneshot::channel();
        self.act(ActionCommand { action, actor: format!("hook {script}") }, reply);
        let shared = self.shared.clone();
        self.tasks.spawn(async move { await_action(&shared, id, answer).await });
    }

    /// Suspends or resumes a resource in the name of the script.
    fn suspend_for(&mut self, pending: PendingAction) {
        let PendingAction { id, request: wish, script, .. } = pending;
        let Some(pause) = suspend_request(&wish.verb, &wish.fields) else {
            let message = "it names no resource".to_owned();
            return self.settle_action_request(id, ActionOutcome::Invalid, message, None);
        };
        let (record, paused) = self.suspend_record(&pause, format!("hook {script}"));
        let message = suspend_message(&paused);
        let fate = if matches!(paused, SuspensionResult::Unknown { .. }) {
            ActionOutcome::Invalid
        } else {
            ActionOutcome::Done
        };
        self.settle_action_request(
            id,
            fate,
            message,
            record.map(|record| (record, pause.key().clone())),
        );
    }

    /// Plans a resource again at once.
    fn reconcile_for(&mut self, pending: PendingAction) {
        let key = pending.request.fields.get("key").and_then(Value::as_str);
        if let Some(key) = key.and_then(|key| key.parse::<Key>().ok()) {
            self.account_refresh.allow_all();
            self.replan([key].into());
        }
        self.settle_action_request(
            pending.id,
            ActionOutcome::Done,
            "looked at again".to_owned(),
            None,
        );
    }

    /// Records the result of an action, together with the record of its effect if it is itself a
    /// record.
    pub(crate) fn settle_action_request(
        &mut self,
        id: ActionRequestId,
        fate: ActionOutcome,
        message: String,
        with: Option<(Record, Key)>,
    ) {
        if fate != ActionOutcome::Done {
            tracing::warn!(event = id.event, action = %id.name, reason = message, "action not done");
        }
        let shared = self.shared.clone();
        self.tasks.spawn(async move {
            let (first, key) = with.map_or((None, None), |(record, key)| (Some(record), Some(key)));
            let granted = ActionResult { id: id.clone(), outcome: fate, message, at: shared.now() };
            let records =
                first.into_iter().chain([Record::ActionSettled(Box::new(granted))]).collect();
            match shared.write(Vec::new(), records).await {
                Ok(()) => TaskResult::ActionTried(id, true, key),
                Err(error) => TaskResult::Broken(error),
            }
        });
    }

    /// Handles the end of a try of an action.
    pub(crate) fn action_tried(
        &mut self,
        id: &ActionRequestId,
        settled: bool,
        key: Option<Key>,
    ) -> Result<(), EngineError> {
        if settled {
            self.scripts.agenda.end(id);
        } else {
            let tries = self.scripts.agenda.count_try(id);
            let shared = self.shared.clone();
            let wait = shared.random(|rng| backoff::jittered_delay(tries, rng)).min(AGAIN_MAX);
            self.scripts.agenda.reschedule(id, Instant::now().checked_add(wait));
        }
        self.record_written(key)?;
        self.dispatch_actions()
    }
}

/// Waits until an action is settled, and records the result.
async fn await_action(
    shared: &Arc<EngineShared>,
    id: ActionRequestId,
    answer: oneshot::Receiver<Reply>,
) -> TaskResult {
    let Ok(Reply::Action(acted)) = answer.await else {
        return TaskResult::ActionTried(id, false, None);
    };
    let fate = match acted.status {
        ActionStatus::Done => ActionOutcome::Done,
        ActionStatus::Refused => ActionOutcome::Refused,
        ActionStatus::Invalid => ActionOutcome::Invalid,
        ActionStatus::OnHold
        | ActionStatus::InDoubt
        | ActionStatus::NotSent
        | ActionStatus::Blocked => {
            tracing::info!(event = id.event, action = %id.name, reason = acted.message, "waits");
            return TaskResult::ActionTried(id, false, None);
        }
    };
    let granted =
        ActionResult { id: id.clone(), outcome: fate, message: acted.message, at: shared.now() };
    match shared.write(Vec::new(), vec![Record::ActionSettled(Box::new(granted))]).await {
        Ok(()) => TaskResult::ActionTried(id, true, None),
        Err(error) => TaskResult::Broken(error),
    }
}

/// Returns a script's request about a resource.
fn suspend_request(verb: &str, fields: &Value) -> Option<SuspensionRequest> {
    let key: Key = fields.get("key")?.as_str()?.parse().ok()?;
    if verb == RESUME {
        return Some(SuspensionRequest::Resume { key });
    }
    let reason = fields.get("reason").and_then(Value::as_str).unwrap_or("a hook asked for it");
    let until = fields.get("until").and_then(Value::as_str).and_then(|until| until.parse().ok());
    Some(SuspensionRequest::Suspend { key, reason: reason.to_owned(), until })
}

fn suspend_message(paused: &SuspensionResult) -> String {
    match paused {
        SuspensionResult::Suspended(_) => "suspended".to_owned(),
        SuspensionResult::Resumed { .. } => "resumed".to_owned(),
        SuspensionResult::NotSuspended { .. } => "it was not suspended".to_owned(),
        SuspensionResult::Unknown { key, .. } => format!("there is no {}", key.short()),
    }
}
