//! State of hooks: the scripts in use, their unsettled actions, and failures.

use crate::base::clock::timestamp;
use crate::engine::handles::shared::EngineError;
use crate::engine::known::epoch;
use crate::engine::protocol::queries::hooks::{
    ActionView, FailedActionView, FailedRunView, HooksView,
};
use crate::engine::view::EngineView;
use crate::model::events::hook::NOTIFY;
use crate::model::events::hook_run::{ActionOutcome, FailedAction, FailedHook, PendingAction};
use crate::model::intents::intent::IntentState;
use crate::plan::state_view::StateView;

/// Largest number of entries in each list.
const SHOWN_MAX: usize = 1000;

impl EngineView<'_> {
    /// Returns the state of hooks.
    pub(crate) fn hooks_view(&self) -> Result<HooksView, EngineError> {
        let failed = self.shared.facts.first_failed(SHOWN_MAX)?;
        let (again, dead): (Vec<_>, Vec<_>) =
            failed.iter().partition(|failed| failed.failed.retry_at.is_some());
        let mut view = self.scripts.scripts_view();
        view.known = self.roster_view()?;
        view.quotas = self.quotas()?;
        view.undone = self.shared.facts.failed_actions()?.iter().map(failed_action_view).collect();
        for pending in self.shared.facts.first_pending(SHOWN_MAX)? {
            let held = epoch::unprovable_action_reason(&self.shared.facts, &pending)?;
            view.waiting.push(ActionView {
                waits: self.doubt_reason(&pending),
                ..action_view(&pending, held)
            });
        }
        view.failed = again.into_iter().map(failed_run_view).collect();
        view.dead = dead.into_iter().map(failed_run_view).collect();
        for ledger in self.shared.facts.event_ledgers()? {
            let totals = &mut view.totals;
            totals.waiting = totals.waiting.saturating_add(ledger.pending);
            totals.failed = totals.failed.saturating_add(ledger.retried);
            totals.dead = totals.dead.saturating_add(ledger.dead);
        }
        Ok(view)
    }

    /// Returns the reason why the effect of an action is in doubt, if it is.
    fn doubt_reason(&self, pending: &PendingAction) -> Option<String> {
        let open = self.known_state.open_intent(&pending.action().ok()?)?;
        match &open.state {
            IntentState::InDoubt { attempt: _, reason } => Some(reason.clone()),
            IntentState::Open { .. } | IntentState::OnHold { .. } | IntentState::Closed => None,
        }
    }
}

fn action_view(pending: &PendingAction, held: Option<String>) -> ActionView {
    ActionView {
        merchant: pending.id.merchant.short(),
        event: pending.id.event.clone(),
        name: pending.id.name.to_string(),
        verb: pending.request.verb.clone(),
        script: pending.script.clone(),
        at: pending.request.at.as_ref().map(timestamp),
        since: timestamp(&pending.at),
        on_hold: held,
        waits: None,
    }
}

fn failed_run_view(failed: &FailedHook) -> FailedRunView {
    FailedRunView {
        merchant: failed.merchant.short(),
        event: failed.event.clone(),
        script: failed.failed.script.clone(),
        message: failed.failed.message.clone(),
        tries: failed.failed.tries,
        again: failed.failed.retry_at.as_ref().map(timestamp),
    }
}

fn failed_action_view(undone: &FailedAction) -> FailedActionView {
    let FailedAction { result: granted, verb, script } = undone;
    FailedActionView {
        merchant: granted.id.merchant.short(),
        event: granted.id.event.clone(),
        name: granted.id.name.to_string(),
        verb: verb.clone(),
        script: script.clone(),
        fate: granted.outcome,
        message: granted.message.clone(),
        at: timestamp(&granted.at),
        help: remedy(granted.outcome, verb).to_owned(),
    }
}

/// Returns a person's remedy for an action that was not done. Its name is used up, so that it can
/// never happen twice.
fn remedy(fate: ActionOutcome, verb: &str) -> &'static str {
    match fate {
        ActionOutcome::Done | ActionOutcome::Skipped => "nothing",
        ActionOutcome::Refused if verb == NOTIFY => {
            "nothing was sent: correct the target (`notify` in reckon.yaml) or the script, and \
            send this text by other means"
        }
        ActionOutcome::Refused => {
            "nothing was done, and the script cannot request it again for this event: use `reckon \
            gateway` with another name"
        }
        ActionOutcome::Invalid => {
            "nothing was sent: correct the script for later events; for this event, use `reckon \
            gateway`"
        }
        ActionOutcome::Unknown => "check whether it arrived: it is not sent again",
    }
}
