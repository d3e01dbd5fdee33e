//! Folds hook runs: each action counts once, by its event and its own name (law 5).

use crate::base::id::Key;
use crate::model::events::event::EventLedger;
use crate::model::events::hook_run::{
    ActionOutcome, ActionResult, Cursor, CursorAdvanced, FailedHook, HookRunRecord, HooksReplayed,
    NotificationAttempt, Scheduled, ScriptIdentity,
};
use crate::model::events::replay::Requester;
use crate::model::record::Record;
use crate::model::state::lifecycle::Release;
use crate::store::error::{Folded, law};
use crate::store::projection::events::is_doubted;
use crate::store::projection::ledger::{put_failed_run, remove_failed_run};
use crate::store::projection::requests::EndedAction;
use crate::store::projection::{events, ledger, replays, requests};
use crate::store::read_model::hooks::{
    ACTION_REQUESTS, EVENTS_TO_RUN, HOOK_CURSORS, HOOKS_FAILED, NOTIFICATIONS_SENDING, is_stopped,
    schedule_key,
};
use crate::store::read_model::model::Changes;
use crate::store::read_model::resources::EVENT_LEDGERS;

pub(crate) fn run_in(record: &Record) -> Option<&HookRunRecord> {
    if let Record::HooksRun(ran) = record { Some(ran) } else { None }
}

/// Returns true if both records are runs of one script for events of one merchant.
pub(crate) fn are_together(one: &Record, next: &Record) -> bool {
    let way_of = |record| run_in(record).and_then(lane_of);
    way_of(one).is_some_and(|way| way_of(next) == Some(way))
}

/// Returns merchant and lane of a run; `None` for a retry, or a record from before lanes.
fn lane_of(ran: &HookRunRecord) -> Option<(&Key, &ScriptIdentity)> {
    Some((&ran.merchant, ran.script_identity.as_ref().filter(|_| !ran.is_retry)?))
}

pub(crate) fn fold_run(changes: &mut Changes<'_>, ran: &HookRunRecord) -> Folded {
    if lane_of(ran).is_some() {
        return fold_runs(changes, std::iter::once(ran));
    }
    let doubted = is_doubted(changes, ran)?;
    if !ran.is_retry {
        advance_ledger(changes, (&ran.merchant, ran.number), &[])?;
    }
    let mut ledger = EVENT_LEDGERS.get(changes, &ran.merchant)?.unwrap_or_default();
    let requester = replays::requester(changes, ran)?;
    let mut was_stopped = false;
    if ran.is_retry {
        for script in events::scripts(ran).chain(ran.former_script.as_deref()) {
            was_stopped |= is_stopped(changes, &ran.merchant, script)?;
            remove_failed_run(changes, &mut ledger, ((&ran.merchant, ran.event.as_str()), script))?;
        }
    }
    let ended = fold_outcome(changes, &mut ledger, (ran, doubted), requester.as_ref())?;
    count_runs(&mut ledger, ran);
    EVENT_LEDGERS.put(changes, &ran.merchant, &ledger)?;
    if was_stopped {
        ledger::queue_again(changes, &ran.merchant)?;
    }
    requests::count_ended(changes, ended)
}

/// Folds runs of one script that are [together](are_together); reads and writes the cursor once.
pub(crate) fn fold_runs<'a>(
    changes: &mut Changes<'_>,
    rans: impl Iterator<Item = &'a HookRunRecord>,
) -> Folded {
    let mut rans = rans.peekable();
    let Some((merchant, lane)) = rans.peek().and_then(|first| lane_of(first)) else {
        return Ok(());
    };
    let mut ledger = EVENT_LEDGERS.get(changes, merchant)?.unwrap_or_default();
    let cursor = HOOK_CURSORS.get(changes, (merchant, &lane.script))?;
    // A script that was absent is behind all others and has its own cursor.
    let mut to = cursor.map_or(ledger.ran_to, |cursor| cursor.to);
    let sure = events::new_events(changes, merchant)?;
    let mut ended = Vec::new();
    for ran in rans {
        let number = ran.number;
        if number <= to {
            let (script, merchant) = (&lane.script, merchant.short());
            return law!(5, "{script} runs twice for event {number} of {merchant}");
        }
        to = number;
        ended.extend(fold_outcome(changes, &mut ledger, (ran, !sure.covers(number)), None)?);
        count_runs(&mut ledger, ran);
    }
    HOOK_CURSORS.put(changes, (merchant, &lane.script), &Cursor { to, text: lane.text })?;
    EVENT_LEDGERS.put(changes, merchant, &ledger)?;
    requests::count_ended(changes, ended)
}

fn fold_outcome(
    changes: &mut Changes<'_>,
    ledger: &mut EventLedger,
    (ran, doubted): (&HookRunRecord, bool),
    requester: Option<&Requester>,
) -> Folded<Vec<EndedAction>> {
    let (mut before, mut ended) = (0, Vec::new());
    for run in &ran.runs {
        let asked = requests::fold_requests(changes, (ran, run), doubted, before)?;
        ledger.pending = ledger.pending.saturating_add(asked.new);
        ended.extend(asked.ended);
        ended.extend(requests::store_values(changes, (ran, run))?);
        before = before.saturating_add(run.requests.len());
    }
    for failed in &ran.failures {
        let (merchant, event) = (ran.merchant.clone(), ran.event.clone());
        let (failed, requester) = (failed.clone(), requester.cloned());
        let failed = FailedHook { merchant, event, failed, maybe_ran: doubted, requester };
        put_failed_run(changes, ledger, &failed)?;
    }
    Ok(ended)
}

fn count_runs(ledger: &mut EventLedger, ran: &HookRunRecord) {
    let many = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    ledger.runs = ledger.runs.saturating_add(many(ran.runs.len()));
    ledger.failures = ledger.failures.saturating_add(many(ran.failures.len()));
}

/// Advances the merchant's ledger, in the order of events. The scripts in `held` keep their place.
fn advance_ledger(
    changes: &mut Changes<'_>,
    (merchant, number): (&Key, u64),
    held: &[ScriptIdentity],
) -> Folded {
    let mut ledger = EVENT_LEDGERS.get(changes, merchant)?.unwrap_or_default();
    if number <= ledger.ran_to {
        return law!(5, "the hooks of event {number} of {} run twice", merchant.short());
    }
    let from = std::mem::replace(&mut ledger.ran_to, number);
    if ledger.ran_to >= ledger.verified {
        EVENTS_TO_RUN.remove(changes, merchant);
    }
    ledger::advance_all(changes, merchant, (from, number), held)?;
    EVENT_LEDGERS.put(changes, merchant, &ledger)?;
    // A person may have let a stopped script continue meanwhile.
    if held.is_empty() { Ok(()) } else { ledger::queue_again(changes, merchant) }
}

/// Records that every hook of these events was run.
pub(crate) fn advance(changes: &mut Changes<'_>, passed: &CursorAdvanced) -> Folded {
    match &passed.script {
        Some(script) => ledger::advance_script(changes, passed, script),
        None => advance_ledger(changes, (&passed.merchant, passed.to), &passed.held_back),
    }
}

/// Marks a notification as being sent, or as not sent after all.
pub(crate) fn note_sending(changes: &mut Changes<'_>, telling: &NotificationAttempt) {
    if telling.in_progress {
        NOTIFICATIONS_SENDING.mark(changes, &telling.id);
    } else {
        NOTIFICATIONS_SENDING.remove(changes, &telling.id);
    }
}

pub(crate) fn record_result(changes: &mut Changes<'_>, granted: &ActionResult) -> Folded {
    let pending = ACTION_REQUESTS.get(changes, &granted.id)?;
    let content = pending.as_ref().and_then(|pending| pending.request.content);
    if let Some(pending) = pending {
        changes.batch.remove(schedule_key(&Scheduled::of(&pending)));
        ledger::change_ledger(changes, &granted.id.merchant, |ledger| {
            ledger.pending = ledger.pending.saturating_sub(1);
        })?;
        ledger::count_result(changes, pending, granted)?;
    }
    ACTION_REQUESTS.remove(changes, &granted.id);
    NOTIFICATIONS_SENDING.remove(changes, &granted.id);
    requests::write_result(changes, granted, content)
}

/// Makes the failed hook runs of an event due again.
pub(crate) fn retry_failed(changes: &mut Changes<'_>, replayed: &HooksReplayed) -> Folded {
    let HooksReplayed { merchant, event, .. } = replayed;
    let mut ledger = EVENT_LEDGERS.get(changes, merchant)?.unwrap_or_default();
    for mut failed in HOOKS_FAILED.under((merchant, event)).list(changes)? {
        failed.failed.retry_at = Some(replayed.at);
        failed.failed.tries = 0;
        let (actor, at) = (replayed.actor.clone(), replayed.at);
        failed.requester = failed.requester.map(|_| Requester { actor, at });
        put_failed_run(changes, &mut ledger, &failed)?;
    }
    Ok(EVENT_LEDGERS.put(changes, merchant, &ledger)?)
}

/// Records a person's word that actions pending since a restore were done before it.
pub(crate) fn mark_done(changes: &mut Changes<'_>, release: &Release) -> Folded {
    let said = |action: &Key| release.keys.is_empty() || release.keys.contains(action);
    for pending in ACTION_REQUESTS.list(changes)? {
        if !pending.maybe_done || !pending.action().is_ok_and(|action| said(&action)) {
            continue;
        }
        let message = format!("done before the restore, said by {}", release.actor);
        let (id, outcome, at) = (pending.id, ActionOutcome::Done, release.at);
        record_result(changes, &ActionResult { id, outcome, message, at })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
