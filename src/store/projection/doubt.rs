//! Folds the doubt about actions that a lost state may have done for hooks.
//!
//! The events that a lost state had handled are unknown. A state that was restored from a backup,
//! or that began empty, reads them from the list again. So all events are in doubt until the
//! complete list was read once; events known after that are new. This does not need the service's
//! clock and ours to agree.

use crate::base::id::Key;
use crate::kinds::planning::step::MERCHANT;
use crate::model::events::event::{EventLedger, Polled};
use crate::model::events::hook::{ActionRequest, HookRun, NOTIFY, RECONCILE, RESUME, SUSPEND};
use crate::model::events::hook_run::{FailedHook, HookRunRecord, PendingAction};
use crate::store::index::ordered::{Batch, Index};
use crate::store::read_model::events::ledger_key;
use crate::store::read_model::failed::{HOOKS_FAILED, failed_key};
use crate::store::read_model::hooks::{ACTION_REQUESTS, NEW_EVENTS, doubt_key, new_events_key};
use crate::store::read_model::model::{ReadModelError, decode_entry, read, write};

/// Returns true if a lost state may have run the hooks of this event. The partner's webhooks are in
/// no list, and are not delivered again once they were accepted.
pub(crate) fn is_doubted(
    index: &dyn Index,
    batch: &Batch,
    ran: &HookRunRecord,
) -> Result<bool, ReadModelError> {
    if ran.is_retry {
        let scripts = ran.runs.iter().map(|run| &run.script);
        for script in scripts.chain(ran.failures.iter().map(|failed| &failed.script)) {
            let key = failed_key(&ran.merchant, &ran.event, script);
            let known: Option<FailedHook> = read(index, batch, &key)?;
            if known.is_some_and(|known| known.maybe_ran) {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    Ok(!new_events(index, batch, &ran.merchant)?.covers(ran.number))
}

/// Events of a merchant whose hooks no lost state can have run: those behind this number, if any;
/// all events, if they are in no list.
pub(crate) struct NewEvents {
    listed: bool,
    from: Option<u64>,
}

impl NewEvents {
    /// Returns true if no lost state can have run the hooks of the event with this number.
    pub(crate) fn covers(&self, number: u64) -> bool {
        !self.listed || self.from.is_some_and(|from| number > from)
    }
}

/// Returns the events of a merchant that are certainly new.
pub(crate) fn new_events(
    index: &dyn Index,
    batch: &Batch,
    merchant: &Key,
) -> Result<NewEvents, ReadModelError> {
    let from = read(index, batch, &new_events_key(merchant))?;
    Ok(NewEvents { listed: merchant.kind.as_str() == MERCHANT, from })
}

/// Returns true if the service cannot show whether an action was done. Such an action notifies a
/// person, or its name is made from its content, which may come from what the run read.
pub(crate) fn is_unprovable(run: &HookRun, wish: &ActionRequest) -> bool {
    match wish.verb.as_str() {
        NOTIFY => true,
        SUSPEND | RESUME | RECONCILE => false,
        _ => !run.reads.is_empty() && wish.is_named_by_content(),
    }
}

/// Makes the effect of this action be looked up before it is sent.
pub(crate) fn mark_doubted(batch: &mut Batch, pending: &PendingAction) {
    if let Ok(action) = pending.action() {
        batch.put(doubt_key(&action), Vec::new());
    }
}

/// Marks later events as new, if the list of events was read to its end.
pub(crate) fn note_list_read(
    index: &dyn Index,
    batch: &mut Batch,
    polled: &Polled,
) -> Result<(), ReadModelError> {
    let key = new_events_key(&polled.merchant);
    if !polled.whole || batch.get(index, &key)?.is_some() {
        return Ok(());
    }
    let ledger: Option<EventLedger> = read(index, batch, &ledger_key(&polled.merchant))?;
    write(batch, &key, &ledger.unwrap_or_default().verified)
}

/// Handles a restored backup: pending action requests may be done already, and no event is
/// certainly new.
pub(crate) fn doubt_pending(index: &dyn Index, batch: &mut Batch) -> Result<(), ReadModelError> {
    for (key, _) in batch.scan(index, NEW_EVENTS)? {
        batch.remove(key);
    }
    for (key, value) in batch.scan(index, ACTION_REQUESTS)? {
        let mut pending: PendingAction = decode_entry(&key, &value)?;
        // The action's name is fixed, so its effect can be found, if the service shows it.
        pending.maybe_done |= pending.request.verb == NOTIFY;
        mark_doubted(batch, &pending);
        write(batch, &key, &pending)?;
    }
    for (key, value) in batch.scan(index, HOOKS_FAILED)? {
        let mut failed: FailedHook = decode_entry(&key, &value)?;
        failed.maybe_ran = true;
        write(batch, &key, &failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
