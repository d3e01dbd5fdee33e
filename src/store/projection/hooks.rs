//! Folds hook runs: each action counts once, by its event and its own name (law 5).

use crate::base::id::Key;
use crate::model::events::event::EventLedger;
use crate::model::events::hook_run::{
    ActionOutcome, ActionResult, Cursor, CursorAdvanced, FailedHook, HookFailure, HookRunRecord,
    HooksReplayed, NotificationAttempt, PendingAction, Scheduled, ScriptIdentity,
};
use crate::model::record::Record;
use crate::model::state::lifecycle::Release;
use crate::store::error::FoldError;
use crate::store::index::ordered::{Batch, Index};
use crate::store::projection::events::is_doubted;
use crate::store::projection::requests::EndedAction;
use crate::store::projection::scripts::{put_failed_run, remove_failed_run};
use crate::store::projection::{events, ledger, requests, scripts};
use crate::store::read_model::events::ledger_key;
use crate::store::read_model::failed::{failed_key, failed_of};
use crate::store::read_model::hooks::{
    ACTION_REQUESTS, cursor_key, request_key, schedule_key, sending_key, to_run_key,
};
use crate::store::read_model::model::{ReadModelError, decode_entry, read, write};

/// Returns the hook run of a record, if the record is one.
pub(crate) fn run_in(record: &Record) -> Option<&HookRunRecord> {
    if let Record::HooksRun(ran) = record { Some(ran) } else { None }
}

/// Returns true if both records are runs of one script for events of one merchant.
pub(crate) fn are_together(one: &Record, next: &Record) -> bool {
    let way_of = |record| run_in(record).and_then(lane_of);
    way_of(one).is_some_and(|way| way_of(next) == Some(way))
}

/// Returns the merchant and lane of a run; `None` for a retry, or for a record from before scripts
/// had lanes.
fn lane_of(ran: &HookRunRecord) -> Option<(&Key, &ScriptIdentity)> {
    Some((&ran.merchant, ran.script_identity.as_ref().filter(|_| !ran.is_retry)?))
}

/// Folds the runs of an event's hooks.
pub(crate) fn fold_run(
    index: &dyn Index,
    batch: &mut Batch,
    ran: &HookRunRecord,
) -> Result<(), FoldError> {
    if lane_of(ran).is_some() {
        return fold_runs(index, batch, std::iter::once(ran));
    }
    let doubted = is_doubted(index, batch, ran)?;
    if !ran.is_retry {
        advance_ledger(index, batch, (&ran.merchant, ran.number), &[])?;
    }
    let ledger_key = ledger_key(&ran.merchant);
    let mut ledger: EventLedger = read(index, batch, &ledger_key)?.unwrap_or_default();
    let mut was_stopped = false;
    if ran.is_retry {
        for script in scripts(ran).chain(ran.former_script.as_deref()) {
            was_stopped |= scripts::is_stopped(index, batch, &ran.merchant, script)?;
            let key = failed_key(&ran.merchant, &ran.event, script);
            remove_failed_run(index, batch, &mut ledger, &key)?;
        }
    }
    let ended = fold_outcome(index, batch, &mut ledger, (ran, doubted))?;
    count_runs(&mut ledger, ran);
    write(batch, &ledger_key, &ledger)?;
    if was_stopped {
        scripts::queue_again(index, batch, &ran.merchant)?;
    }
    Ok(requests::count_ended(index, batch, ended)?)
}

/// Folds runs of one script that are [together](are_together): one run for each event, in the order
/// of events. The cursor is read once and written once.
pub(crate) fn fold_runs<'a>(
    index: &dyn Index,
    batch: &mut Batch,
    rans: impl Iterator<Item = &'a HookRunRecord>,
) -> Result<(), FoldError> {
    let mut rans = rans.peekable();
    let Some((merchant, lane)) = rans.peek().and_then(|first| lane_of(first)) else {
        return Ok(());
    };
    let (ledger_key, key) = (ledger_key(merchant), cursor_key(merchant, &lane.script));
    let mut ledger: EventLedger = read(index, batch, &ledger_key)?.unwrap_or_default();
    let cursor: Option<Cursor> = read(index, batch, &key)?;
    // A script that was absent is behind all others and has its own cursor.
    let mut to = cursor.map_or(ledger.ran_to, |cursor| cursor.to);
    let sure = events::new_events(index, batch, merchant)?;
    let mut ended = Vec::new();
    for ran in rans {
        let number = ran.number;
        if number <= to {
            let (script, merchant) = (&lane.script, merchant.short());
            let detail = format!("{script} runs twice for event {number} of {merchant}");
            return Err(FoldError::Law { law: 5, detail });
        }
        to = number;
        ended.extend(fold_outcome(index, batch, &mut ledger, (ran, !sure.covers(number)))?);
        count_runs(&mut ledger, ran);
    }
    write(batch, &key, &Cursor { to, text: lane.text })?;
    write(batch, &ledger_key, &ledger)?;
    Ok(requests::count_ended(index, batch, ended)?)
}

/// Folds the action requests, the stored values and the failures of an event's runs.
fn fold_outcome(
    index: &dyn Index,
    batch: &mut Batch,
    ledger: &mut EventLedger,
    (ran, doubted): (&HookRunRecord, bool),
) -> Result<Vec<EndedAction>, ReadModelError> {
    let (mut before, mut ended) = (0, Vec::new());
    for run in &ran.runs {
        let asked = requests::fold_requests(index, batch, (ran, run), doubted, before)?;
        ledger.pending = ledger.pending.saturating_add(asked.new);
        ended.extend(asked.ended);
        ended.extend(requests::store_values(index, batch, (ran, run))?);
        before = before.saturating_add(run.requests.len());
    }
    for one in &ran.failures {
        put_failed_run(index, batch, ledger, &failed_hook(ran, one, doubted))?;
    }
    Ok(ended)
}

fn count_runs(ledger: &mut EventLedger, ran: &HookRunRecord) {
    let many = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    ledger.runs = ledger.runs.saturating_add(many(ran.runs.len()));
    ledger.failures = ledger.failures.saturating_add(many(ran.failures.len()));
}

fn scripts(ran: &HookRunRecord) -> impl Iterator<Item = &str> {
    let failed = ran.failures.iter().map(|failed| failed.script.as_str());
    ran.runs.iter().map(|run| run.script.as_str()).chain(failed)
}

fn failed_hook(ran: &HookRunRecord, failed: &HookFailure, doubted: bool) -> FailedHook {
    let (merchant, event) = (ran.merchant.clone(), ran.event.clone());
    FailedHook { merchant, event, failed: failed.clone(), maybe_ran: doubted }
}

/// Advances the merchant's ledger: hooks of an event run once, in the order of events. The scripts
/// in `held` keep their place.
fn advance_ledger(
    index: &dyn Index,
    batch: &mut Batch,
    (merchant, number): (&Key, u64),
    held: &[ScriptIdentity],
) -> Result<(), FoldError> {
    let key = ledger_key(merchant);
    let mut ledger: EventLedger = read(index, batch, &key)?.unwrap_or_default();
    if number <= ledger.ran_to {
        let detail = format!("the hooks of event {number} of {} run twice", merchant.short());
        return Err(FoldError::Law { law: 5, detail });
    }
    let from = std::mem::replace(&mut ledger.ran_to, number);
    if ledger.ran_to >= ledger.verified {
        batch.remove(to_run_key(merchant));
    }
    scripts::advance_all(index, batch, merchant, (from, number), held)?;
    write(batch, &ledger_key(merchant), &ledger)?;
    // A person may have let a stopped script continue meanwhile.
    if held.is_empty() { Ok(()) } else { Ok(scripts::queue_again(index, batch, merchant)?) }
}

/// Records that every hook of these events was run.
pub(crate) fn advance(
    index: &dyn Index,
    batch: &mut Batch,
    passed: &CursorAdvanced,
) -> Result<(), FoldError> {
    match &passed.script {
        Some(script) => scripts::advance_script(index, batch, passed, script),
        None => advance_ledger(index, batch, (&passed.merchant, passed.to), &passed.held_back),
    }
}

/// Marks a notification as being sent, or as not sent after all.
pub(crate) fn note_sending(batch: &mut Batch, telling: &NotificationAttempt) {
    let key = sending_key(&telling.id);
    if telling.in_progress {
        batch.put(key, Vec::new());
    } else {
        batch.remove(key);
    }
}

/// Records the result of an action.
pub(crate) fn record_result(
    index: &dyn Index,
    batch: &mut Batch,
    granted: &ActionResult,
) -> Result<(), ReadModelError> {
    let pending = read::<PendingAction>(index, batch, &request_key(&granted.id))?;
    let content = pending.as_ref().and_then(|pending| pending.request.content);
    if let Some(pending) = pending {
        batch.remove(schedule_key(&Scheduled::of(&pending)));
        ledger::end_pending(index, batch, pending, granted)?;
    }
    batch.remove(request_key(&granted.id));
    batch.remove(sending_key(&granted.id));
    requests::write_result(batch, granted, content)
}

/// Makes the failed hook runs of an event due again.
pub(crate) fn retry_failed(
    index: &dyn Index,
    batch: &mut Batch,
    replayed: &HooksReplayed,
) -> Result<(), ReadModelError> {
    let ledger_key = ledger_key(&replayed.merchant);
    let mut ledger: EventLedger = read(index, batch, &ledger_key)?.unwrap_or_default();
    for (key, value) in batch.scan(index, &failed_of(&replayed.merchant, &replayed.event))? {
        let mut failed: FailedHook = decode_entry(&key, &value)?;
        failed.failed.retry_at = Some(replayed.at);
        failed.failed.tries = 0;
        put_failed_run(index, batch, &mut ledger, &failed)?;
    }
    write(batch, &ledger_key, &ledger)
}

/// Records a person's word that actions pending since a restore were done before it.
pub(crate) fn mark_done(
    index: &dyn Index,
    batch: &mut Batch,
    release: &Release,
) -> Result<(), ReadModelError> {
    let said = |action: &Key| release.keys.is_empty() || release.keys.contains(action);
    for (key, value) in batch.scan(index, ACTION_REQUESTS)? {
        let pending: PendingAction = decode_entry(&key, &value)?;
        if !pending.maybe_done || !pending.action().is_ok_and(|action| said(&action)) {
            continue;
        }
        let message = format!("done before the restore, said by {}", release.actor);
        let granted =
            ActionResult { id: pending.id, outcome: ActionOutcome::Done, message, at: release.at };
        record_result(index, batch, &granted)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
