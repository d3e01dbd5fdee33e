//! Folds failed actions of hooks, listed for people: the newest of each merchant, until a person
//! has acknowledged them.

use super::ledger::count;
use super::roster;
use super::roster::remove_failed_run;
use crate::base::id::Key;
use crate::model::events::hook_run::{
    ActionOutcome, ActionResult, FailedAction, FailedHook, HooksAcknowledged, PendingAction,
};
use crate::store::index::ordered::{Batch, Index};
use crate::store::read_model::events::ledger_key;
use crate::store::read_model::failed::failed_of;
use crate::store::read_model::hooks::{FAILED_ACTIONS, failed_action_key};
use crate::store::read_model::model::{ReadModel, ReadModelError, decode_entry, read, write};

/// Maximum of failed actions listed for each merchant; the journal has all of them.
const KEPT_MAX: u64 = 500;

/// Records the end of a pending action.
pub(crate) fn end_pending(
    index: &dyn Index,
    batch: &mut Batch,
    pending: PendingAction,
    granted: &ActionResult,
) -> Result<(), ReadModelError> {
    count(index, batch, &granted.id.merchant, |ledger| {
        ledger.pending = ledger.pending.saturating_sub(1);
    })?;
    count_result(index, batch, pending, granted)
}

/// Counts the end of an action, and lists a failed one.
pub(crate) fn count_result(
    index: &dyn Index,
    batch: &mut Batch,
    pending: PendingAction,
    granted: &ActionResult,
) -> Result<(), ReadModelError> {
    let merchant = &granted.id.merchant;
    let mut number = 0;
    count(index, batch, merchant, |ledger| {
        ledger.actions.count(granted.outcome);
        number = ledger.actions.failed();
    })?;
    if matches!(granted.outcome, ActionOutcome::Done | ActionOutcome::Skipped) {
        return Ok(());
    }
    if let Some(old) = number.checked_sub(KEPT_MAX) {
        batch.remove(failed_action_key(merchant, old));
    }
    let (verb, script) = (pending.request.verb, pending.script);
    write(
        batch,
        &failed_action_key(merchant, number),
        &FailedAction { result: granted.clone(), verb, script },
    )
}

/// Records that a person has acknowledged the failures of an event's hooks.
pub(crate) fn acknowledge(
    index: &dyn Index,
    batch: &mut Batch,
    dismissed: &HooksAcknowledged,
) -> Result<(), ReadModelError> {
    for (key, value) in batch.scan(index, FAILED_ACTIONS)? {
        let undone: FailedAction = decode_entry(&key, &value)?;
        if undone.result.id.event == dismissed.event {
            batch.remove(key);
        }
    }
    let event = &dismissed.event;
    let merchants = ReadModel::event_merchants_in(index, batch)?;
    merchants.iter().try_for_each(|merchant| remove_failed(index, batch, merchant, event))
}

/// Removes an event's failed hook runs that are not retried.
fn remove_failed(
    index: &dyn Index,
    batch: &mut Batch,
    merchant: &Key,
    event: &str,
) -> Result<(), ReadModelError> {
    for (key, value) in batch.scan(index, &failed_of(merchant, event))? {
        let failed: FailedHook = decode_entry(&key, &value)?;
        if failed.failed.retry_at.is_some() {
            continue;
        }
        let was_stopped = roster::is_stopped(index, batch, merchant, &failed.failed.script)?;
        let mut ledger = read(index, batch, &ledger_key(merchant))?.unwrap_or_default();
        remove_failed_run(index, batch, &mut ledger, &key)?;
        write(batch, &ledger_key(merchant), &ledger)?;
        if was_stopped {
            roster::queue_again(index, batch, merchant)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::events::hook::{ActionRequest, NOTIFY};
    use crate::model::events::hook_run::ActionRequestId;
    use crate::store::index::ordered::MemoryIndex;
    use crate::store::read_model::hooks::request_key;
    use crate::store::read_model::model::ReadModel;

    /// Ends an action of this number in the state.
    fn end(index: &Arc<MemoryIndex>, number: u64, fate: ActionOutcome) {
        let merchant: Key = "Merchant/acme".parse().unwrap();
        let at = chrono::DateTime::UNIX_EPOCH;
        let name = "tell".parse().unwrap();
        let id = ActionRequestId { merchant, event: format!("evt_{number}"), name };
        let fields = serde_json::json!({});
        let wish = ActionRequest {
            name: id.name.clone(),
            verb: NOTIFY.to_owned(),
            merchant: None,
            fields,
            at: None,
            at_most: None,
            content: None,
        };
        let pending = PendingAction {
            id: id.clone(),
            request: wish,
            script: "alarm".to_owned(),
            at,
            maybe_done: false,
        };
        let mut batch = Batch::new();
        write(&mut batch, &request_key(&id), &pending).unwrap();
        index.apply(batch).unwrap();
        let granted = ActionResult { id, outcome: fate, message: "why".to_owned(), at };
        let mut batch = Batch::new();
        super::super::hooks::record_result(&**index, &mut batch, &granted).unwrap();
        index.apply(batch).unwrap();
    }

    #[test]
    fn what_was_not_done_is_kept_in_bounded_number_until_somebody_has_seen_it() {
        let index = Arc::new(MemoryIndex::new());
        let facts = ReadModel::new(index.clone());
        end(&index, 0, ActionOutcome::Done);
        for number in 1..=KEPT_MAX + 3 {
            end(
                &index,
                number,
                if number % 2 == 0 { ActionOutcome::Refused } else { ActionOutcome::Unknown },
            );
        }
        let undone = facts.failed_actions().unwrap();
        let kept = usize::try_from(KEPT_MAX).unwrap();
        assert_eq!((undone.len(), undone[0].result.id.event.as_str()), (kept, "evt_4"));
        assert_eq!((undone[0].script.as_str(), undone[0].verb.as_str()), ("alarm", NOTIFY));
        let merchant = "Merchant/acme".parse().unwrap();
        let actions = facts.event_ledger(&merchant).unwrap().actions;
        assert_eq!((actions.done, actions.refused, actions.unknown), (1, 251, 252));
        let mut batch = Batch::new();
        let (event, actor) = ("evt_9".to_owned(), "uid 7".to_owned());
        let seen = HooksAcknowledged { event, actor, at: chrono::DateTime::UNIX_EPOCH };
        acknowledge(&*index, &mut batch, &seen).unwrap();
        index.apply(batch).unwrap();
        assert_eq!(facts.failed_actions().unwrap().len(), kept - 1);
    }
}
