//! Folds the ledger of a merchant: the counts of its events, the queue of posted ids that wait to be
//! verified, and the failed runs and actions of hooks; and the roster of scripts.
//!
//! The queue is oldest first, many ids to an entry, so that a flood of posts stays cheap. Pages are
//! numbered from 1. A waiting event knows its page; only the newest page grows. Of the failed actions
//! the newest of each merchant are listed, until a person has acknowledged them.
//!
//! The cursor of an absent script is kept until a person forgets the script.
//!
//! Guarantees: a script with too many failed runs for a merchant is stopped there. The script
//! continues when fewer are left.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::id::Key;
use crate::model::events::event::EventLedger;
use crate::model::events::hook_run::{
    ActionOutcome, ActionResult, Cursor, CursorAdvanced, FailedAction, FailedHook,
    HooksAcknowledged, PendingAction, ScriptIdentity,
};
use crate::model::events::scripts::{KnownScript, ScriptForgotten, ScriptsLoaded};
use crate::store::error::{Folded, law};
use crate::store::read_model::hooks::{
    EVENTS_TO_RUN, FAILED_ACTIONS, FAILED_COUNTS, HOOK_CURSORS, HOOKS_FAILED, ROSTER, STORED_SIZES,
    STORED_VALUES, failed_run_key, is_stopped, retry_key,
};
use crate::store::read_model::model::{Changes, Entries, decode};
use crate::store::read_model::resources::{EVENT_LEDGERS, EVENT_PAGES, EVENTS_WAITING};

/// Ids in one page.
const PAGE_MAX: usize = 64;

/// The newest page of a merchant, while posts are added.
#[derive(Debug)]
pub(crate) struct NewestPage {
    merchant: Key,
    newest: u64,
    ids: Vec<String>,
}

impl NewestPage {
    pub(crate) fn open(entries: &impl Entries, merchant: &Key) -> Folded<Self> {
        let newest = EVENT_PAGES.get(entries, merchant)?.unwrap_or(1);
        let ids = EVENTS_WAITING.get(entries, (merchant, newest))?.unwrap_or_default();
        Ok(Self { merchant: merchant.clone(), newest, ids })
    }

    /// Adds an id to the queue; returns its page.
    pub(crate) fn add(&mut self, changes: &mut Changes<'_>, id: &str) -> Folded<u64> {
        if self.ids.len() >= PAGE_MAX {
            self.write(changes)?;
            self.newest = self.newest.saturating_add(1);
            self.ids.clear();
            EVENT_PAGES.put(changes, &self.merchant, &self.newest)?;
        }
        self.ids.push(id.to_owned());
        Ok(self.newest)
    }

    pub(crate) fn write(&self, changes: &mut Changes<'_>) -> Folded {
        Ok(EVENTS_WAITING.put(changes, (&self.merchant, self.newest), &self.ids)?)
    }
}

pub(crate) fn remove_waiting(changes: &mut Changes<'_>, page: (&Key, u64), id: &str) -> Folded {
    let mut ids = EVENTS_WAITING.get(changes, page)?.unwrap_or_default();
    ids.retain(|one| one != id);
    if ids.is_empty() {
        EVENTS_WAITING.remove(changes, page);
        return Ok(());
    }
    Ok(EVENTS_WAITING.put(changes, page, &ids)?)
}

pub(crate) fn change_ledger(
    changes: &mut Changes<'_>,
    merchant: &Key,
    change: impl FnOnce(&mut EventLedger),
) -> Folded {
    let mut ledger = EVENT_LEDGERS.get(changes, merchant)?.unwrap_or_default();
    change(&mut ledger);
    Ok(EVENT_LEDGERS.put(changes, merchant, &ledger)?)
}

/// Maximum of failed actions listed for each merchant; the journal has all of them.
const KEPT_MAX: u64 = 500;

/// Counts the end of an action, and lists a failed one.
pub(crate) fn count_result(
    changes: &mut Changes<'_>,
    pending: PendingAction,
    granted: &ActionResult,
) -> Folded {
    let merchant = &granted.id.merchant;
    let mut number = 0;
    change_ledger(changes, merchant, |ledger| {
        ledger.actions.count(granted.outcome);
        number = ledger.actions.failed();
    })?;
    if matches!(granted.outcome, ActionOutcome::Done | ActionOutcome::Skipped) {
        return Ok(());
    }
    if let Some(old) = number.checked_sub(KEPT_MAX) {
        FAILED_ACTIONS.remove(changes, (merchant, old));
    }
    let (verb, script) = (pending.request.verb, pending.script);
    let failed = FailedAction { result: granted.clone(), verb, script };
    Ok(FAILED_ACTIONS.put(changes, (merchant, number), &failed)?)
}

/// Records that a person has acknowledged the failures of an event's hooks.
pub(crate) fn acknowledge(changes: &mut Changes<'_>, dismissed: &HooksAcknowledged) -> Folded {
    for (key, value) in changes.scan(FAILED_ACTIONS.prefix())? {
        let undone: FailedAction = decode(&key, &value)?;
        if undone.result.id.event == dismissed.event {
            changes.batch.remove(key);
        }
    }
    let merchants = EVENT_LEDGERS.keys(changes)?;
    merchants.iter().try_for_each(|merchant| acknowledge_runs(changes, merchant, &dismissed.event))
}

/// Removes an event's failed hook runs that are not retried.
fn acknowledge_runs(changes: &mut Changes<'_>, merchant: &Key, event: &str) -> Folded {
    for failed in HOOKS_FAILED.under((merchant, event)).list(changes)? {
        if failed.failed.retry_at.is_some() {
            continue;
        }
        let was_stopped = is_stopped(changes, merchant, &failed.failed.script)?;
        let mut ledger = EVENT_LEDGERS.get(changes, merchant)?.unwrap_or_default();
        remove_failed_run(changes, &mut ledger, failed_run_key(&failed))?;
        EVENT_LEDGERS.put(changes, merchant, &ledger)?;
        if was_stopped {
            queue_again(changes, merchant)?;
        }
    }
    Ok(())
}

type Roster = BTreeMap<String, KnownScript>;

fn roster(entries: &impl Entries) -> Folded<Roster> {
    Ok(ROSTER.entries(entries)?.into_iter().collect())
}

/// Applies a new set of scripts.
pub(crate) fn load_scripts(changes: &mut Changes<'_>, loaded: &ScriptsLoaded) -> Folded {
    let mut known = roster(changes)?;
    let present: BTreeSet<&str> = loaded.scripts.iter().map(|lane| lane.script.as_str()).collect();
    for ScriptIdentity { script, text } in &loaded.scripts {
        let former = known.iter().find(|(name, old)| {
            !present.contains(name.as_str()) && old.text == *text && !known.contains_key(script)
        });
        if let Some(former) = former.map(|(name, _)| name.clone()) {
            rename(changes, &former, script)?;
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
        ROSTER.put(changes, name, enrolled)?;
    }
    for begin in &loaded.begins {
        let text = known.get(&begin.script).map(|enrolled| enrolled.text);
        let cursor = text.map(|text| Cursor { to: begin.to, text });
        let key = (&begin.merchant, begin.script.as_str());
        if let (Some(cursor), false) = (cursor, HOOK_CURSORS.has(changes, key)?) {
            HOOK_CURSORS.put(changes, key, &cursor)?;
        }
    }
    for (merchant, ledger) in EVENT_LEDGERS.entries(changes)? {
        queue(changes, &merchant, &ledger, &known)?;
    }
    Ok(())
}

fn rename(changes: &mut Changes<'_>, former: &str, script: &str) -> Folded {
    ROSTER.remove(changes, former);
    let suffix = [b"\0", former.as_bytes()].concat();
    for (key, value) in changes.scan(HOOK_CURSORS.prefix())? {
        if let Some(merchant) = key.strip_suffix(suffix.as_slice()) {
            changes.batch.put([merchant, b"\0", script.as_bytes()].concat(), value);
            changes.batch.remove(key);
        }
    }
    Ok(())
}

/// Queues or unqueues a merchant, depending on whether a script in use has events to run for.
fn queue(changes: &mut Changes<'_>, merchant: &Key, ledger: &EventLedger, all: &Roster) -> Folded {
    let mut waits = ledger.ran_to < ledger.verified;
    for (name, cursor) in HOOK_CURSORS.under(merchant).entries(changes)? {
        waits |= cursor.to < ledger.verified
            && !is_absent(all, &name)
            && !is_stopped(changes, merchant, &name)?;
    }
    if waits {
        EVENTS_TO_RUN.mark(changes, merchant);
    } else {
        EVENTS_TO_RUN.remove(changes, merchant);
    }
    Ok(())
}

/// Queues or unqueues a merchant for which a script may continue.
pub(crate) fn queue_again(changes: &mut Changes<'_>, merchant: &Key) -> Folded {
    let ledger = EVENT_LEDGERS.get(changes, merchant)?.unwrap_or_default();
    let known = roster(changes)?;
    queue(changes, merchant, &ledger, &known)
}

fn is_absent(known: &Roster, name: &str) -> bool {
    known.get(name).is_some_and(|enrolled| enrolled.absent.is_some())
}

/// Advances all scripts in use, except those in `held`, to an event. Their cursors up to that event
/// are removed. An absent script and a held one keep their place.
pub(crate) fn advance_all(
    changes: &mut Changes<'_>,
    merchant: &Key,
    (from, to): (u64, u64),
    held: &[ScriptIdentity],
) -> Folded {
    let known = roster(changes)?;
    let is_held = |name: &str| held.iter().any(|lane| lane.script == name);
    for (name, cursor) in HOOK_CURSORS.under(merchant).entries(changes)? {
        if cursor.to <= to && !is_absent(&known, &name) && !is_held(&name) {
            HOOK_CURSORS.remove(changes, (merchant, &name));
        }
    }
    let absent = known.iter().filter(|(_, enrolled)| enrolled.absent.is_some());
    let absent = absent.map(|(name, enrolled)| (name, enrolled.text));
    for (name, text) in absent.chain(held.iter().map(|lane| (&lane.script, lane.text))) {
        if !HOOK_CURSORS.has(changes, (merchant, name))? {
            HOOK_CURSORS.put(changes, (merchant, name), &Cursor { to: from, text })?;
        }
    }
    Ok(())
}

/// Advances one script, which was behind all others, to an event.
pub(crate) fn advance_script(
    changes: &mut Changes<'_>,
    passed: &CursorAdvanced,
    script: &str,
) -> Folded {
    let CursorAdvanced { merchant, to, .. } = passed;
    let key = (merchant, script);
    let ledger = EVENT_LEDGERS.get(changes, merchant)?.unwrap_or_default();
    let Some(cursor) = HOOK_CURSORS.get(changes, key)? else { return Ok(()) };
    if *to < cursor.to {
        return law!(5, "{script} goes back to event {to} of {}", merchant.short());
    }
    if *to == ledger.ran_to {
        HOOK_CURSORS.remove(changes, key);
    } else {
        HOOK_CURSORS.put(changes, key, &Cursor { to: *to, ..cursor })?;
    }
    let known = roster(changes)?;
    queue(changes, merchant, &ledger, &known)
}

/// Forgets an absent script: its place and its stored values.
pub(crate) fn forget_script(changes: &mut Changes<'_>, forgotten: &ScriptForgotten) -> Folded {
    let name = &forgotten.script;
    ROSTER.remove(changes, name);
    let suffix = [b"\0", name.as_bytes()].concat();
    for (key, _) in changes.scan(HOOK_CURSORS.prefix())? {
        if key.ends_with(&suffix) {
            changes.batch.remove(key);
        }
    }
    STORED_SIZES.remove(changes, name);
    Ok(changes.remove_under(STORED_VALUES.under(name).prefix())?)
}

/// Returns the count that includes a failed hook run.
fn failed_run_count<'a>(ledger: &'a mut EventLedger, failed: &FailedHook) -> &'a mut u64 {
    match failed.failed.retry_at {
        _ if failed.is_requested() => &mut ledger.requested,
        Some(_) => &mut ledger.retried,
        None => &mut ledger.dead,
    }
}

/// Puts a failed hook run in the place of its former entry.
pub(crate) fn put_failed_run(
    changes: &mut Changes<'_>,
    ledger: &mut EventLedger,
    failed: &FailedHook,
) -> Folded {
    remove_failed_run(changes, ledger, failed_run_key(failed))?;
    schedule_retry(changes, ledger, failed);
    script_count(changes, failed, |count| count.saturating_add(1))?;
    Ok(HOOKS_FAILED.put(changes, failed_run_key(failed), failed)?)
}

/// Changes the number of a script's failed runs for a merchant. A run that a person requested, of a
/// hook that had not failed, stops no script, so it is not counted.
fn script_count(
    changes: &mut Changes<'_>,
    failed: &FailedHook,
    change: impl FnOnce(u64) -> u64,
) -> Folded {
    if failed.requester.is_some() {
        return Ok(());
    }
    let key = (&failed.merchant, failed.failed.script.as_str());
    match change(FAILED_COUNTS.get(changes, key)?.unwrap_or(0)) {
        0 => FAILED_COUNTS.remove(changes, key),
        count => FAILED_COUNTS.put(changes, key, &count)?,
    }
    Ok(())
}

/// Adds a failed hook run to the order of retries, and counts it.
pub(crate) fn schedule_retry(
    changes: &mut Changes<'_>,
    ledger: &mut EventLedger,
    failed: &FailedHook,
) {
    if let Some(retry) = retry_key(failed) {
        changes.batch.put(retry, HOOKS_FAILED.key(failed_run_key(failed)));
    }
    let count = failed_run_count(ledger, failed);
    *count = count.saturating_add(1);
}

/// Removes the failed hook run with this key, if it exists.
pub(crate) fn remove_failed_run(
    changes: &mut Changes<'_>,
    ledger: &mut EventLedger,
    key: ((&Key, &str), &str),
) -> Folded {
    let Some(known) = HOOKS_FAILED.get(changes, key)? else { return Ok(()) };
    if let Some(retry) = retry_key(&known) {
        changes.batch.remove(retry);
    }
    let count = failed_run_count(ledger, &known);
    *count = count.saturating_sub(1);
    HOOKS_FAILED.remove(changes, key);
    script_count(changes, &known, |count| count.saturating_sub(1))
}

#[cfg(test)]
mod tests;
