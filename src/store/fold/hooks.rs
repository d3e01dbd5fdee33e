//! What hooks asked for, in the index: each action once, by its event and its own name (law 5).

pub(super) mod doubt;

use super::FoldError;
use crate::base::id::{Key, Name};
use crate::base::planted;
use crate::model::action::Action;
use crate::model::event::EventLedger;
use crate::model::hook::{Run, Wish};
use crate::model::ran::{
    Failed, FailedHook, Granted, Passed, Pending, Ran, Replayed, Telling, WishId,
};
use crate::store::facts::{
    FactError, HOOKS_FAILED, decode_entry, depth_key, failed_key, granted_key, kept_key,
    ledger_key, read, telling_key, to_run_key, wish_key, write,
};
use crate::store::index::{Batch, Index};
use doubt::{doubted, is_guessed};

/// There is an event whose hooks are to be run.
pub(super) fn to_run(batch: &mut Batch, merchant: &Key) {
    batch.put(to_run_key(merchant), Vec::new());
}

/// The hooks of an event were run.
pub(super) fn ran(index: &dyn Index, batch: &mut Batch, ran: &Ran) -> Result<(), FoldError> {
    let doubted = doubted(index, batch, ran)?;
    if ran.again {
        for script in scripts(ran) {
            batch.remove(failed_key(&ran.merchant, &ran.event, script));
        }
    } else {
        counted(index, batch, &ran.merchant, ran.number)?;
    }
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
    Ok(write(batch, &key, &ledger)?)
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

/// No hook is for these events.
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
pub(super) fn granted(batch: &mut Batch, granted: &Granted) -> Result<(), FactError> {
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
