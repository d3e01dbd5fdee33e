//! What hooks asked for, in the index: each action once, by its event and its own name (law 5).

pub(super) mod doubt;

use super::{FoldError, events, undone};
use crate::base::id::{Key, Name};
use crate::base::planted;
use crate::model::action::Action;
use crate::model::event::EventLedger;
use crate::model::hook::{Run, Wish};
use crate::model::ran::{
    Cursor, Failed, FailedHook, Granted, Lane, Passed, Pending, Ran, Replayed, Telling, WishId,
};
use crate::model::record::Record;
use crate::store::facts::{
    FactError, HOOKS_FAILED, cursor_key, cursors_of, decode_entry, depth_key, failed_key,
    granted_key, kept_key, ledger_key, read, telling_key, to_run_key, wish_key, write,
};
use crate::store::index::{Batch, Index};
use doubt::{doubted, is_guessed};

/// There is an event whose hooks are to be run.
pub(super) fn to_run(batch: &mut Batch, merchant: &Key) {
    batch.put(to_run_key(merchant), Vec::new());
}

/// The run of a script that a record is about.
pub(super) fn run_in(record: &Record) -> Option<&Ran> {
    if let Record::Ran(ran) = record { Some(ran) } else { None }
}

/// Whether these are runs of one script for events of one merchant.
pub(super) fn are_together(one: &Record, next: &Record) -> bool {
    let way_of = |record| run_in(record).and_then(way);
    way_of(one).is_some_and(|way| way_of(next) == Some(way))
}

/// Whose way through whose events a run belongs to; none of one that is run again, or from when scripts had no own ways.
fn way(ran: &Ran) -> Option<(&Key, &Lane)> {
    Some((&ran.merchant, ran.lane.as_ref().filter(|_| !ran.again)?))
}

/// The hooks of an event were run.
pub(super) fn ran(index: &dyn Index, batch: &mut Batch, ran: &Ran) -> Result<(), FoldError> {
    if way(ran).is_some() {
        return ran_together(index, batch, std::iter::once(ran));
    }
    let doubted = doubted(index, batch, ran)?;
    if ran.again {
        for script in scripts(ran).chain(ran.formerly.as_deref()) {
            batch.remove(failed_key(&ran.merchant, &ran.event, script));
        }
    } else {
        counted(index, batch, &ran.merchant, ran.number)?;
    }
    came_to(index, batch, ran, doubted)?;
    Ok(events::count(index, batch, &ran.merchant, |ledger| tally(ledger, ran))?)
}

/// One script was run for these events, which are [together](are_together): once for each, and in their order. Where it
/// stands is read once and written once.
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
    let mut to = cursor.map_or(0, |cursor| cursor.to).max(ledger.ran_to);
    let sure = doubt::sure(index, batch, merchant)?;
    for ran in rans {
        let number = ran.number;
        if number <= to {
            let (script, merchant) = (&lane.script, merchant.short());
            let detail = format!("{script} runs twice for event {number} of {merchant}");
            return Err(FoldError::Law { law: 5, detail });
        }
        to = number;
        came_to(index, batch, ran, !sure.covers(number))?;
        tally(&mut ledger, ran);
    }
    write(batch, &key, &Cursor { to, text: lane.text })?;
    Ok(write(batch, &ledger_key, &ledger)?)
}

/// What the runs of an event ask for and keep, and those that failed.
fn came_to(
    index: &dyn Index,
    batch: &mut Batch,
    ran: &Ran,
    doubted: bool,
) -> Result<(), FoldError> {
    let mut before = 0;
    for run in &ran.runs {
        asked(index, batch, (ran, run), doubted, before)?;
        before = before.saturating_add(run.wishes.len());
    }
    for failed in &ran.failures {
        let failed = failed_hook(ran, failed, doubted);
        let key = failed_key(&ran.merchant, &ran.event, &failed.failed.script);
        write(batch, &key, &failed)?;
    }
    Ok(())
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

/// The hooks of an event are run once, and in the order of the events.
fn counted(
    index: &dyn Index,
    batch: &mut Batch,
    merchant: &Key,
    number: u64,
) -> Result<(), FoldError> {
    let key = ledger_key(merchant);
    let mut ledger: EventLedger = read(index, batch, &key)?.unwrap_or_default();
    if number <= ledger.ran_to {
        let detail = format!("the hooks of event {number} of {} run twice", merchant.short());
        return Err(FoldError::Law { law: 5, detail });
    }
    ledger.ran_to = number;
    if ledger.ran_to >= ledger.told {
        batch.remove(to_run_key(merchant));
    }
    for (key, value) in batch.scan(index, &cursors_of(merchant)).map_err(FactError::from)? {
        let cursor: Cursor = decode_entry(&key, &value)?;
        if cursor.to <= number {
            batch.remove(key);
        }
    }
    Ok(write(batch, &ledger_key(merchant), &ledger)?)
}

/// What one run asks for and keeps, behind so many actions of other runs.
fn asked(
    index: &dyn Index,
    batch: &mut Batch,
    (ran, run): (&Ran, &Run),
    doubted: bool,
    before: usize,
) -> Result<(), FoldError> {
    for (nth, wish) in (before..).zip(&run.wishes) {
        let (merchant, event) = (ran.merchant.clone(), ran.event.clone());
        let id = WishId { merchant, event, name: name(wish, nth) };
        let known = batch.get(index, &wish_key(&id)).map_err(FactError::from)?.is_some()
            || batch.get(index, &granted_key(&id)).map_err(FactError::from)?.is_some();
        if known {
            continue;
        }
        if let (Some(merchant), Ok(name)) = (&wish.merchant, id.action_name()) {
            let action = Action::key(merchant, &name);
            write(batch, &depth_key(&action), &ran.depth.saturating_add(1))?;
        }
        let (wish, script) = (wish.clone(), run.script.clone());
        let unsure = doubted && is_guessed(run, &wish);
        let pending = Pending { id: id.clone(), wish, script, unsure, at: ran.at };
        if doubted {
            doubt::note(batch, &pending);
        }
        write(batch, &wish_key(&id), &pending)?;
    }
    for (key, value) in &run.kept {
        write(batch, &kept_key(&run.script, key), value)?;
    }
    Ok(())
}

/// An action's own name; a planted fault counts instead.
fn name(wish: &Wish, nth: usize) -> Name {
    let counted = format!("nth-{nth}").parse().ok().filter(|_| planted::is("hook-by-ordinal"));
    counted.unwrap_or_else(|| wish.name.clone())
}

/// Every hook of these events was run.
pub(super) fn passed(
    index: &dyn Index,
    batch: &mut Batch,
    passed: &Passed,
) -> Result<(), FoldError> {
    counted(index, batch, &passed.merchant, passed.to)
}

/// A notification is on its way, or was not sent after all.
pub(super) fn telling(batch: &mut Batch, telling: &Telling) {
    let key = telling_key(&telling.id);
    if telling.under_way {
        batch.put(key, Vec::new());
    } else {
        batch.remove(key);
    }
}

/// What became of an action.
pub(super) fn granted(
    index: &dyn Index,
    batch: &mut Batch,
    granted: &Granted,
) -> Result<(), FactError> {
    if let Some(pending) = read::<Pending>(index, batch, &wish_key(&granted.id))? {
        undone::ended(index, batch, pending, granted)?;
    }
    batch.remove(wish_key(&granted.id));
    batch.remove(telling_key(&granted.id));
    write(batch, &granted_key(&granted.id), granted)
}

/// What failed for good is run again.
pub(super) fn replayed(
    index: &dyn Index,
    batch: &mut Batch,
    replayed: &Replayed,
) -> Result<(), FactError> {
    for (key, value) in batch.scan(index, HOOKS_FAILED)? {
        let mut failed: FailedHook = decode_entry(&key, &value)?;
        if failed.merchant == replayed.merchant && failed.event == replayed.event {
            failed.failed.again = Some(replayed.at);
            failed.failed.tries = 0;
            write(batch, &key, &failed)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
