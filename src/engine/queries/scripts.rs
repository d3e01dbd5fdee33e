//! Hooks, their scripts and data against its bounds, and the data that scripts see. A trial run changes
//! nothing.

use serde_json::{Value, json};

use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::engine::handles::shared::EngineResult;
use crate::engine::hooks::event::event_value;
use crate::engine::known::known_state;
use crate::engine::protocol::hooks::{
    ActionView, FailedActionView, FailedRunView, HooksView, MerchantQuota, QuotasView,
    RequestedRunView, ScriptView, TrialRunQuery,
};
use crate::engine::view::EngineView;
use crate::kinds::planning::step::MERCHANT;
use crate::kinds::register;
use crate::kinds::schema::kind::Privacy;
use crate::kinds::secrets::without_private;
use crate::model::events::event::{EventLedger, EventStatus};
use crate::model::events::hook::NOTIFY;
use crate::model::events::hook_run::{ActionOutcome, FailedAction, FailedHook, PendingAction};
use crate::model::events::scripts::{
    ALL_BYTES_MAX, ALL_KEYS_MAX, BYTES_MAX, KEYS_MAX, ScriptValuesSize,
};
use crate::model::intent::IntentState;
use crate::model::plan::Step;
use crate::plan::state_view::StateView;

const SHOWN_MAX: usize = 1000;
const MERCHANTS_SHOWN_MAX: usize = 100;
/// The kind beside merchants whose documents have events of their own.
const APPLICATION: &str = "MerchantApplication";

impl EngineView<'_> {
    pub(crate) fn hooks_view(&self) -> EngineResult<HooksView> {
        let failed = self.shared.facts.first_failed(SHOWN_MAX)?;
        let (requested, failed): (Vec<_>, Vec<_>) =
            failed.iter().partition(|failed| failed.is_requested());
        let (again, dead): (Vec<_>, Vec<_>) =
            failed.into_iter().partition(|failed| failed.failed.retry_at.is_some());
        let mut view = self.scripts.scripts_view();
        view.known = self.roster_view()?;
        view.quotas = self.quotas()?;
        view.undone = self.shared.facts.failed_actions()?.iter().map(failed_action_view).collect();
        for pending in self.shared.facts.first_pending(SHOWN_MAX)? {
            let held = known_state::unprovable_action_reason(&self.shared.facts, &pending)?;
            let waits = self.doubt_reason(&pending);
            view.waiting.push(ActionView { waits, ..action_view(&pending, held) });
        }
        view.requested = requested.into_iter().filter_map(requested_run_view).collect();
        view.failed = again.into_iter().map(failed_run_view).collect();
        view.dead = dead.into_iter().map(failed_run_view).collect();
        for (_, ledger) in self.shared.facts.ledgers_by_merchant()? {
            let totals = &mut view.totals;
            totals.waiting = totals.waiting.saturating_add(ledger.pending);
            totals.failed = totals.failed.saturating_add(ledger.retried);
            totals.requested = totals.requested.saturating_add(ledger.requested);
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

    pub(crate) fn roster_view(&self) -> EngineResult<Vec<ScriptView>> {
        let facts = &self.shared.facts;
        let ledgers = facts.ledgers_by_merchant()?;
        let mut views = Vec::new();
        for (script, enrolled) in facts.roster()? {
            let (mut waiting, mut stopped) = (0_u64, 0_u64);
            for (merchant, ledger) in &ledgers {
                let cursor = facts.hook_cursor(merchant, &script)?;
                let to = cursor.map_or(ledger.ran_to, |cursor| cursor.to);
                waiting = waiting.saturating_add(ledger.verified.saturating_sub(to));
                let is_stopped = facts.is_stopped(merchant, &script)?;
                stopped = stopped.saturating_add(u64::from(is_stopped));
            }
            let kept = facts.stored_size(&script)?;
            views.push(ScriptView {
                since: timestamp(&enrolled.since),
                absent: enrolled.absent.as_ref().map(timestamp),
                stopped,
                waiting,
                kept_keys: kept.keys,
                kept_bytes: kept.bytes,
                script,
            });
        }
        Ok(views)
    }

    /// Returns the growing data, against its bounds.
    pub(crate) fn quotas(&self) -> EngineResult<QuotasView> {
        let facts = &self.shared.facts;
        let ledgers = facts.ledgers_by_merchant()?;
        let sum = |of: fn(&EventLedger) -> u64| {
            ledgers.iter().map(|(_, ledger)| of(ledger)).fold(0, u64::saturating_add)
        };
        let share = ledgers.iter().map(|(key, ledger)| MerchantQuota::of(key.short(), ledger));
        let mut merchants: Vec<MerchantQuota> = share.collect();
        merchants.sort_by_key(|one| std::cmp::Reverse(one.held));
        merchants.truncate(MERCHANTS_SHOWN_MAX);
        Ok(QuotasView {
            kept: facts.stored_total()?,
            kept_max: ScriptValuesSize { keys: ALL_KEYS_MAX, bytes: ALL_BYTES_MAX },
            script_max: ScriptValuesSize { keys: KEYS_MAX, bytes: BYTES_MAX },
            events_held: sum(EventLedger::stored_count),
            events_dropped: sum(|ledger| ledger.dropped),
            merchants,
        })
    }

    /// Returns one resource, null if it does not exist.
    pub(crate) fn script_resource(&self, key: &str) -> Result<Value, String> {
        let key: Key = key.parse().map_err(|error| format!("{key}: {error}"))?;
        Ok(self.planner.step(&key).map_or(Value::Null, |step| self.script_value(step)))
    }

    /// Returns all resources of a kind whose fields equal the filter's, ordered by name.
    pub(crate) fn script_find(&self, kind: &str, filter: &Value) -> Value {
        let all = self.planner.steps_of_kind(kind).map(|step| self.script_value(step));
        Value::Array(all.filter(|seen| fits(seen, filter)).collect())
    }

    fn script_value(&self, step: &Step) -> Value {
        let manifest = self.known_state.desired().manifest(&step.key);
        let (reason, message) = step.headline();
        let labels = manifest.as_ref().map(|manifest| manifest.labels.clone());
        json!({
            "kind": step.key.kind,
            "namespace": step.key.namespace,
            "name": step.key.name,
            "labels": labels.unwrap_or_default(),
            "spec": manifest.map(|manifest| without_secrets(&manifest.key, &manifest.spec)).unwrap_or_default(),
            "ready": step.is_ready(),
            "reason": reason,
            "message": message,
            "remote_id": step.remote_id,
        })
    }

    /// Answers the request; null if there is nothing.
    pub(crate) fn trial_data(&self, asked: &TrialRunQuery) -> Result<Value, String> {
        let facts = &self.shared.facts;
        match asked {
            TrialRunQuery::Event(id) => self.trial_event(id),
            TrialRunQuery::Transaction { merchant, id } => {
                let known = facts.remote_object(merchant, id).map_err(|error| error.to_string())?;
                Ok(known.map_or(Value::Null, |known| json!(known)))
            }
            TrialRunQuery::Names(requests) => self.requested_names(requests),
            TrialRunQuery::Kept { script, key } => {
                facts.stored_value(script, key).map_err(|error| error.to_string())
            }
        }
    }

    fn trial_event(&self, id: &str) -> Result<Value, String> {
        let owners = [MERCHANT, APPLICATION].into_iter();
        for owner in owners.flat_map(|kind| self.planner.steps_of_kind(kind)).map(|step| &step.key)
        {
            let entry = self.shared.facts.event(owner, id).map_err(|error| error.to_string())?;
            let why = match entry.map(|entry| entry.status) {
                None => continue,
                Some(EventStatus::Verified(told)) => {
                    return event_value(self.shared, &told).map_err(|error| error.to_string());
                }
                Some(EventStatus::Waiting) => "posted, but not verified yet",
                Some(EventStatus::Forged) => "forged: the service does not have it",
                Some(EventStatus::OtherMode) => "posted to the address of the other mode",
            };
            return Err(why.to_owned());
        }
        Ok(Value::Null)
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

fn requested_run_view(run: &FailedHook) -> Option<RequestedRunView> {
    let requester = run.requester.as_ref()?;
    Some(RequestedRunView {
        merchant: run.merchant.short(),
        event: run.event.clone(),
        script: run.failed.script.clone(),
        actor: requester.actor.clone(),
        at: timestamp(&requester.at),
    })
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

/// Returns a person's remedy for an action that was not done; its name is used up for good.
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

/// Returns a document without its secret values: no script sees one.
fn without_secrets(key: &Key, spec: &Value) -> Value {
    let row = register::find(key.kind.as_str());
    row.map_or(Value::Null, |row| {
        without_private(row.fields, spec, |privacy| privacy != Privacy::Secret)
    })
}

fn fits(seen: &Value, filter: &Value) -> bool {
    let Value::Object(fields) = filter else { return seen == filter };
    fields.iter().all(|(name, wanted)| seen.get(name).is_some_and(|seen| fits(seen, wanted)))
}

#[cfg(test)]
mod tests;
