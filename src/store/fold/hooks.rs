//! Folds hook runs: each action counts once, by its event and its own name (law 5).

mod asked;
pub(super) mod doubt;
pub(super) mod failed;
mod keeping;
pub(super) mod roster;

use super::{FoldError, undone};
use crate::base::id::Key;
use crate::model::event::EventLedger;
use crate::model::ran::{
    Cursor, Failed, FailedHook, Granted, Lane, Passed, Pending, Ran, Replayed, Scheduled, Telling,
};
use crate::model::record::Record;
use crate::store::facts::{
    FactError, cursor_key, decode_entry, failed_key, failed_of, ledger_key, read, schedule_key,
    telling_key, to_run_key, wish_key, write,
};
use crate::store::index::{Batch, Index};
use asked::Ended;
use doubt::doubted;

/// Marks a merchant whose events have hooks to run.
pub(super) fn to_run(batch: &mut Batch, merchant: &Key) {
    batch.put(to_run_key(merchant), Vec::new());
}

/// Returns the hook run of a record, if the record is one.
pub(super) fn run_in(record: &Record) -> Option<&Ran> {
    if let Record::Ran(ran) = record { Some(ran) } else { None }
}

/// Returns true if both records are runs of one script for events of one merchant.
pub(super) fn are_together(one: &Record, next: &Record) -> bool {
    let way_of = |record| run_in(record).and_then(way);
    way_of(one).is_some_and(|way| way_of(next) == Some(way))
}

/// Returns the merchant and lane of a run; `None` for a retry, or for a record from before scripts
/// had lanes.
fn way(ran: &Ran) -> Option<(&Key, &Lane)> {
    Some((&ran.merchant, ran.lane.as_ref().filter(|_| !ran.again)?))
}

/// Folds the runs of an event's hooks.
pub(super) fn ran(index: &dyn Index, batch: &mut Batch, ran: &Ran) -> Result<(), FoldError> {
    if way(ran).is_some() {
        return ran_together(index, batch, std::iter::once(ran));
    }
    let doubted = doubted(index, batch, ran)?;
    if !ran.again {
        counted(index, batch, (&ran.merchant, ran.number), &[])?;
    }
    let ledger_key = ledger_key(&ran.merchant);
    let mut ledger: EventLedger = read(index, batch, &ledger_key)?.unwrap_or_default();
    let mut was_stopped = false;
    if ran.again {
        for script in scripts(ran).chain(ran.formerly.as_deref()) {
            was_stopped |= failed::is_stopped(index, batch, &ran.merchant, script)?;
            let key = failed_key(&ran.merchant, &ran.event, script);
            failed::remove(index, batch, &mut ledger, &key)?;
        }
    }
    let ended = came_to(index, batch, &mut ledger, (ran, doubted))?;
    tally(&mut ledger, ran);
    write(batch, &ledger_key, &ledger)?;
    if was_stopped {
        roster::queue_again(index, batch, &ran.merchant)?;
    }
    Ok(asked::list(index, batch, ended)?)
}

/// Folds runs of one script that are [together](are_together): one run for each event, in the order
/// of events. The cursor is read once and written once.
pub(super) fn ran_together<'a>(
    index: &dyn Index,
    batch: &mut Batch,
    rans: impl Iterator<Item = &'a Ran>,
) -> Result<(), FoldError> {
    let mut rans = rans.peekable();
    let Some((merchant, lane)) = rans.peek().and_then(|first| way(first)) else { return Ok(()) };
    let (ledger_key, key) = (ledger_key(merchant), cursor_key(merchant, &lane.script));
    let mut ledger: EventLedger = read(index, batch, &ledger_key)?.unwrap_or_default();
    let cursor: Option<Cursor> = read(index, batch, &key)?;
    // A script that was absent is behind all others and has its own cursor.
    let mut to = cursor.map_or(ledger.ran_to, |cursor| cursor.to);
    let sure = doubt::sure(index, batch, merchant)?;
    let mut ended = Vec::new();
    for ran in rans {
        let number = ran.number;
        if number <= to {
            let (script, merchant) = (&lane.script, merchant.short());
            let detail = format!("{script} runs twice for event {number} of {merchant}");
            return Err(FoldError::Law { law: 5, detail });
        }
        to = number;
        ended.extend(came_to(index, batch, &mut ledger, (ran, !sure.covers(number)))?);
        tally(&mut ledger, ran);
    }
    write(batch, &key, &Cursor { to, text: lane.text })?;
    write(batch, &ledger_key, &ledger)?;
    Ok(asked::list(index, batch, ended)?)
}

/// Folds the action requests, the stored values and the failures of an event's runs.
fn came_to(
    index: &dyn Index,
    batch: &mut Batch,
    ledger: &mut EventLedger,
    (ran, doubted): (&Ran, bool),
) -> Result<Vec<Ended>, FactError> {
    let (mut before, mut ended) = (0, Vec::new());
    for run in &ran.runs {
        let asked = asked::asked(index, batch, (ran, run), doubted, before)?;
        ledger.pending = ledger.pending.saturating_add(asked.new);
        ended.extend(asked.ended);
        ended.extend(keeping::keep(index, batch, (ran, run))?);
        before = before.saturating_add(run.wishes.len());
    }
    for one in &ran.failures {
        failed::put(index, batch, ledger, &failed_hook(ran, one, doubted))?;
    }
    Ok(ended)
}

fn tally(ledger: &mut EventLedger, ran: &Ran) {
    let many = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    ledger.runs = ledger.runs.saturating_add(many(ran.runs.len()));
    ledger.failures = ledger.failures.saturating_add(many(ran.failures.len()));
}

fn scripts(ran: &Ran) -> impl Iterator<Item = &str> {
    let failed = ran.failures.iter().map(|failed| failed.script.as_str());
    ran.runs.iter().map(|run| run.script.as_str()).chain(failed)
}

fn failed_hook(ran: &Ran, failed: &Failed, doubted: bool) -> FailedHook {
    let (merchant, event) = (ran.merchant.clone(), ran.event.clone());
    FailedHook { merchant, event, failed: failed.clone(), doubted }
}

/// Advances the merchant's ledger: hooks of an event run once, in the order of events. The scripts
/// in `held` keep their place.
fn counted(
    index: &dyn Index,
    batch: &mut Batch,
    (merchant, number): (&Key, u64),
    held: &[Lane],
) -> Result<(), FoldError> {
    let key = ledger_key(merchant);
    let mut ledger: EventLedger = read(index, batch, &key)?.unwrap_or_default();
    if number <= ledger.ran_to {
        let detail = format!("the hooks of event {number} of {} run twice", merchant.short());
        return Err(FoldError::Law { law: 5, detail });
    }
    let from = std::mem::replace(&mut ledger.ran_to, number);
    if ledger.ran_to >= ledger.told {
        batch.remove(to_run_key(merchant));
    }
    roster::moved(index, batch, merchant, (from, number), held)?;
    write(batch, &ledger_key(merchant), &ledger)?;
    // A person may have let a stopped script continue meanwhile.
    if held.is_empty() { Ok(()) } else { Ok(roster::queue_again(index, batch, merchant)?) }
}

/// Records that every hook of these events was run.
pub(super) fn passed(
    index: &dyn Index,
    batch: &mut Batch,
    passed: &Passed,
) -> Result<(), FoldError> {
    match &passed.script {
        Some(script) => roster::caught_up(index, batch, passed, script),
        None => counted(index, batch, (&passed.merchant, passed.to), &passed.held),
    }
}

/// Marks a notification as being sent, or as not sent after all.
pub(super) fn telling(batch: &mut Batch, telling: &Telling) {
    let key = telling_key(&telling.id);
    if telling.under_way {
        batch.put(key, Vec::new());
    } else {
        batch.remove(key);
    }
}

/// Records the result of an action.
pub(super) fn granted(
    index: &dyn Index,
    batch: &mut Batch,
    granted: &Granted,
) -> Result<(), FactError> {
    let pending = read::<Pending>(index, batch, &wish_key(&granted.id))?;
    let content = pending.as_ref().and_then(|pending| pending.wish.content);
    if let Some(pending) = pending {
        batch.remove(schedule_key(&Scheduled::of(&pending)));
        undone::ended(index, batch, pending, granted)?;
    }
    batch.remove(wish_key(&granted.id));
    batch.remove(telling_key(&granted.id));
    asked::settled(batch, granted, content)
}

/// Makes the failed hook runs of an event due again.
pub(super) fn replayed(
    index: &dyn Index,
    batch: &mut Batch,
    replayed: &Replayed,
) -> Result<(), FactError> {
    let ledger_key = ledger_key(&replayed.merchant);
    let mut ledger: EventLedger = read(index, batch, &ledger_key)?.unwrap_or_default();
    for (key, value) in batch.scan(index, &failed_of(&replayed.merchant, &replayed.event))? {
        let mut failed: FailedHook = decode_entry(&key, &value)?;
        failed.failed.again = Some(replayed.at);
        failed.failed.tries = 0;
        failed::put(index, batch, &mut ledger, &failed)?;
    }
    write(batch, &ledger_key, &ledger)
}

#[cfg(test)]
mod tests;
