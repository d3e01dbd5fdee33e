//! Folds the roster of scripts. The cursor of an absent script is kept until a person forgets the
//! script.
//!
//! Guarantees: a script with [`FAILED_MAX`] failed runs
//! for a merchant is stopped there. The script continues when fewer are left.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::id::Key;
use crate::model::events::event::EventLedger;
use crate::model::events::hook_run::{
    Cursor, CursorAdvanced, FAILED_MAX, FailedHook, ScriptIdentity,
};
use crate::model::events::scripts::{KnownScript, ScriptForgotten, ScriptsLoaded};
use crate::store::error::FoldError;
use crate::store::index::ordered::{Batch, Index};
use crate::store::read_model::events::{EVENT_LEDGERS, ledger_key};
use crate::store::read_model::failed::{failed_count, failed_count_key, failed_key, retry_key};
use crate::store::read_model::hooks::{
    HOOK_CURSORS, ROSTER, cursor_key, cursors_of, roster_key, stored_size_key, stored_values_of,
    to_run_key,
};
use crate::store::read_model::model::{ReadModelError, decode_entry, parse_key, read, write};

/// Every script that the state knows, by name.
pub(crate) type Roster = BTreeMap<String, KnownScript>;

pub(crate) fn roster(index: &dyn Index, batch: &Batch) -> Result<Roster, ReadModelError> {
    let entries = batch.scan(index, ROSTER)?.into_iter();
    entries
        .map(|(key, value)| {
            let name = key.get(ROSTER.len()..).unwrap_or_default();
            Ok((String::from_utf8_lossy(name).into_owned(), decode_entry(&key, &value)?))
        })
        .collect()
}

/// Applies a new set of scripts.
pub(crate) fn load(
    index: &dyn Index,
    batch: &mut Batch,
    loaded: &ScriptsLoaded,
) -> Result<(), ReadModelError> {
    let mut known = roster(index, batch)?;
    let present: BTreeSet<&str> = loaded.scripts.iter().map(|lane| lane.script.as_str()).collect();
    for ScriptIdentity { script, text } in &loaded.scripts {
        let former = known.iter().find(|(name, old)| {
            !present.contains(name.as_str()) && old.text == *text && !known.contains_key(script)
        });
        if let Some(former) = former.map(|(name, _)| name.clone()) {
            rename(index, batch, &former, script)?;
            let moved = known.remove(&former);
            known.extend(moved.map(|enrolled| (script.clone(), enrolled)));
        }
        let new = KnownScript { text: *text, since: loaded.at, absent: None };
        let enrolled = known.entry(script.clone()).or_insert(new);
        (enrolled.text, enrolled.absent) = (*text, None);
    }
    for (name, enrolled) in &mut known {
        if !present.contains(name.as_str()) && enrolled.absent.is_none() {
            enrolled.absent = Some(loaded.at);
        }
        write(batch, &roster_key(name), enrolled)?;
    }
    for begin in &loaded.begins {
        let text = known.get(&begin.script).map(|enrolled| enrolled.text);
        let cursor = text.map(|text| Cursor { to: begin.to, text });
        let key = cursor_key(&begin.merchant, &begin.script);
        if let (Some(cursor), None) = (cursor, batch.get(index, &key)?) {
            write(batch, &key, &cursor)?;
        }
    }
    queue_all(index, batch, &known)
}

/// Moves a script's cursors to its new name.
fn rename(
    index: &dyn Index,
    batch: &mut Batch,
    former: &str,
    script: &str,
) -> Result<(), ReadModelError> {
    batch.remove(roster_key(former));
    let suffix = [b"\0", former.as_bytes()].concat();
    for (key, value) in batch.scan(index, HOOK_CURSORS)? {
        if let Some(merchant) = key.strip_suffix(suffix.as_slice()) {
            batch.put([merchant, b"\0", script.as_bytes()].concat(), value);
            batch.remove(key);
        }
    }
    Ok(())
}

/// Queues or unqueues every merchant, depending on whether a script in use has events to run for.
fn queue_all(index: &dyn Index, batch: &mut Batch, known: &Roster) -> Result<(), ReadModelError> {
    for (key, value) in batch.scan(index, EVENT_LEDGERS)? {
        let merchant = parse_key(key.get(EVENT_LEDGERS.len()..).unwrap_or_default())?;
        queue(index, batch, (&merchant, &decode_entry(&key, &value)?), known)?;
    }
    Ok(())
}

/// Queues or unqueues one merchant.
fn queue(
    index: &dyn Index,
    batch: &mut Batch,
    (merchant, ledger): (&Key, &EventLedger),
    known: &Roster,
) -> Result<(), ReadModelError> {
    let mut waits = ledger.ran_to < ledger.verified;
    for (name, cursor) in cursors(index, batch, merchant)? {
        waits |= cursor.to < ledger.verified
            && !is_absent(known, &name)
            && !is_stopped(index, batch, merchant, &name)?;
    }
    if waits {
        batch.put(to_run_key(merchant), Vec::new());
    } else {
        batch.remove(to_run_key(merchant));
    }
    Ok(())
}

/// Queues or unqueues a merchant for which a script may continue.
pub(crate) fn queue_again(
    index: &dyn Index,
    batch: &mut Batch,
    merchant: &Key,
) -> Result<(), ReadModelError> {
    let ledger: EventLedger = read(index, batch, &ledger_key(merchant))?.unwrap_or_default();
    queue(index, batch, (merchant, &ledger), &roster(index, batch)?)
}

fn is_absent(known: &Roster, name: &str) -> bool {
    known.get(name).is_some_and(|enrolled| enrolled.absent.is_some())
}

fn cursors(
    index: &dyn Index,
    batch: &Batch,
    merchant: &Key,
) -> Result<Vec<(String, Cursor)>, ReadModelError> {
    let prefix = cursors_of(merchant);
    let entries = batch.scan(index, &prefix)?.into_iter();
    entries
        .map(|(key, value)| {
            let name = key.get(prefix.len()..).unwrap_or_default();
            Ok((String::from_utf8_lossy(name).into_owned(), decode_entry(&key, &value)?))
        })
        .collect()
}

/// Advances all scripts in use, except those in `held`, to an event. Their cursors up to that event
/// are removed. An absent script and a held one keep their place.
pub(crate) fn advance_all(
    index: &dyn Index,
    batch: &mut Batch,
    merchant: &Key,
    (from, to): (u64, u64),
    held: &[ScriptIdentity],
) -> Result<(), ReadModelError> {
    let known = roster(index, batch)?;
    let is_held = |name: &str| held.iter().any(|lane| lane.script == name);
    for (name, cursor) in cursors(index, batch, merchant)? {
        if cursor.to <= to && !is_absent(&known, &name) && !is_held(&name) {
            batch.remove(cursor_key(merchant, &name));
        }
    }
    let absent = known.iter().filter(|(_, enrolled)| enrolled.absent.is_some());
    let absent = absent.map(|(name, enrolled)| (name, enrolled.text));
    for (name, text) in absent.chain(held.iter().map(|lane| (&lane.script, lane.text))) {
        let key = cursor_key(merchant, name);
        if batch.get(index, &key)?.is_none() {
            write(batch, &key, &Cursor { to: from, text })?;
        }
    }
    Ok(())
}

/// Advances one script, which was behind all others, to an event.
pub(crate) fn advance_script(
    index: &dyn Index,
    batch: &mut Batch,
    passed: &CursorAdvanced,
    script: &str,
) -> Result<(), FoldError> {
    let CursorAdvanced { merchant, to, .. } = passed;
    let key = cursor_key(merchant, script);
    let ledger: EventLedger = read(index, batch, &ledger_key(merchant))?.unwrap_or_default();
    let Some(cursor) = read::<Cursor>(index, batch, &key)? else { return Ok(()) };
    if *to < cursor.to {
        let detail = format!("{script} goes back to event {to} of {}", merchant.short());
        return Err(FoldError::Law { law: 5, detail });
    }
    if *to == ledger.ran_to {
        batch.remove(key);
    } else {
        write(batch, &key, &Cursor { to: *to, ..cursor })?;
    }
    Ok(queue(index, batch, (merchant, &ledger), &roster(index, batch)?)?)
}

/// Forgets an absent script: its place and its stored values.
pub(crate) fn forget(
    index: &dyn Index,
    batch: &mut Batch,
    forgotten: &ScriptForgotten,
) -> Result<(), ReadModelError> {
    let name = &forgotten.script;
    batch.remove(roster_key(name));
    let suffix = [b"\0", name.as_bytes()].concat();
    for (key, _) in batch.scan(index, HOOK_CURSORS)? {
        if key.ends_with(&suffix) {
            batch.remove(key);
        }
    }
    batch.remove(stored_size_key(name));
    for (key, _) in batch.scan(index, &stored_values_of(name))? {
        batch.remove(key);
    }
    Ok(())
}

fn failed_run_key(failed: &FailedHook) -> Vec<u8> {
    failed_key(&failed.merchant, &failed.event, &failed.failed.script)
}

/// Returns the count that includes a failed hook run.
fn failed_run_count<'a>(ledger: &'a mut EventLedger, failed: &FailedHook) -> &'a mut u64 {
    if failed.failed.retry_at.is_some() { &mut ledger.retried } else { &mut ledger.dead }
}

/// Puts a failed hook run in the place of its former entry.
pub(crate) fn put_failed_run(
    index: &dyn Index,
    batch: &mut Batch,
    ledger: &mut EventLedger,
    failed: &FailedHook,
) -> Result<(), ReadModelError> {
    remove_failed_run(index, batch, ledger, &failed_run_key(failed))?;
    schedule_retry(batch, ledger, failed);
    script_count(index, batch, failed, |count| count.saturating_add(1))?;
    write(batch, &failed_run_key(failed), failed)
}

/// Changes the number of a script's failed runs for a merchant.
fn script_count(
    index: &dyn Index,
    batch: &mut Batch,
    failed: &FailedHook,
    change: impl FnOnce(u64) -> u64,
) -> Result<(), ReadModelError> {
    let (merchant, script) = (&failed.merchant, &failed.failed.script);
    let count = change(failed_count(index, batch, merchant, script)?);
    let key = failed_count_key(merchant, script);
    if count == 0 {
        batch.remove(key);
        return Ok(());
    }
    write(batch, &key, &count)
}

/// Returns true if a script handles no further events of a merchant.
pub(crate) fn is_stopped(
    index: &dyn Index,
    batch: &Batch,
    merchant: &Key,
    script: &str,
) -> Result<bool, ReadModelError> {
    Ok(failed_count(index, batch, merchant, script)? >= FAILED_MAX)
}

/// Adds a failed hook run to the order of retries, and counts it.
pub(crate) fn schedule_retry(batch: &mut Batch, ledger: &mut EventLedger, failed: &FailedHook) {
    if let Some(retry) = retry_key(failed) {
        batch.put(retry, failed_run_key(failed));
    }
    let count = failed_run_count(ledger, failed);
    *count = count.saturating_add(1);
}

/// Removes the failed hook run with this key, if it exists.
pub(crate) fn remove_failed_run(
    index: &dyn Index,
    batch: &mut Batch,
    ledger: &mut EventLedger,
    key: &[u8],
) -> Result<(), ReadModelError> {
    let Some(known) = read::<FailedHook>(index, batch, key)? else { return Ok(()) };
    if let Some(retry) = retry_key(&known) {
        batch.remove(retry);
    }
    let count = failed_run_count(ledger, &known);
    *count = count.saturating_sub(1);
    batch.remove(key);
    script_count(index, batch, &known, |count| count.saturating_sub(1))
}
