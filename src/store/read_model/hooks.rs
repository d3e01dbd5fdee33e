//! Reads of the hooks' action requests, their results, the scripts' stored values and cursors, and
//! failed hook runs: those that are retried, and those that need attention.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;

use crate::base::hash::Digest;
use crate::base::id::{Key, Name};
use crate::model::events::hook::NotificationCounts;
use crate::model::events::hook_run::{
    ActionRequestId, ActionResult, Cursor, FAILED_MAX, FailedAction, FailedHook, PendingAction,
    Scheduled,
};
use crate::model::events::scripts::{KnownScript, ScriptValuesSize};
use crate::store::read_model::model::{Entries, ReadModel, ReadResult, Table, decode, table_reads};
use crate::store::read_model::resources::EVENT_NUMBERS;

pub(crate) static EVENTS_TO_RUN: Table<Key, ()> = Table::new(b"w/r/");
pub(crate) static ACTION_REQUESTS: Table<ActionRequestId, PendingAction> = Table::new(b"w/p/");
/// Prefix of pending action requests in the order in which they become due.
const SCHEDULE: &[u8] = b"w/a/";
pub(crate) static ACTION_RESULTS: Table<ActionRequestId, ActionResult> = Table::new(b"w/d/");
pub(crate) static NOTIFICATIONS_SENDING: Table<ActionRequestId, ()> = Table::new(b"w/t/");
/// Failed actions of hooks; each merchant's numbers count from 1.
pub(crate) static FAILED_ACTIONS: Table<(Key, u64), FailedAction> = Table::new(b"w/x/");
pub(crate) static STORED_VALUES: Table<(String, String), Value> = Table::new(b"w/k/");
pub(crate) static STORED_SIZES: Table<String, ScriptValuesSize> = Table::new(b"w/z/");
pub(crate) static HOOK_CURSORS: Table<(Key, String), Cursor> = Table::new(b"w/o/");
/// Counts of a script's notifications for a merchant under each key of `at_most`.
pub(crate) static HOOKS_AT_MOST: Table<((Key, String), String), NotificationCounts> =
    Table::new(b"w/m/");
pub(crate) static ROSTER: Table<String, KnownScript> = Table::new(b"w/n/");
/// The length of each action's chain of causes.
pub(crate) static HOOK_DEPTHS: Table<Key, u32> = Table::new(b"w/c/");
/// Actions that a lost state may have done.
pub(crate) static DOUBTED_ACTIONS: Table<Key, ()> = Table::new(b"w/u/");
/// The event numbers behind which a merchant's events are certainly new.
pub(crate) static NEW_EVENTS: Table<Key, u64> = Table::new(b"w/s/");
/// Failed hook runs in the order of their retries.
const RETRIES: &[u8] = b"w/g/";
/// Failed hook runs, by merchant, event and script.
pub(crate) static HOOKS_FAILED: Table<((Key, String), String), FailedHook> = Table::new(b"w/f/");
/// The numbers of failed hook runs, by merchant and script.
pub(crate) static FAILED_COUNTS: Table<(Key, String), u64> = Table::new(b"w/e/");

/// Entries read at once: most reads find few due entries.
const PAGE: usize = 16;

table_reads! {
    /// Returns the merchants whose events have hooks to run.
    fn hooks_to_run() -> Vec<Key> = EVENTS_TO_RUN.keys();
    fn pending(id: &ActionRequestId) -> Option<PendingAction> = ACTION_REQUESTS.get(id);
    /// Returns every pending action request.
    fn all_pending() -> Vec<PendingAction> = ACTION_REQUESTS.list();
    fn action_result(id: &ActionRequestId) -> Option<ActionResult> = ACTION_RESULTS.get(id);
    /// Returns true if sending a notification was begun and its result was never recorded.
    fn is_sending(id: &ActionRequestId) -> bool = NOTIFICATIONS_SENDING.has(id);
    /// Returns the listed failed actions of hooks: the newest of each merchant, oldest first.
    fn failed_actions() -> Vec<FailedAction> = FAILED_ACTIONS.list();
    /// Returns a script's cursor; `None` if the script is where the merchant's ledger is.
    fn hook_cursor(merchant: &Key, script: &str) -> Option<Cursor> =
        HOOK_CURSORS.get((merchant, script));
    /// Returns true if a lost state may have done an action: in this state its event was known
    /// before the complete list of events was read.
    fn is_doubted(action: &Key) -> bool = DOUBTED_ACTIONS.has(action);
    /// Returns true if a merchant's whole list of events was read since this state or epoch began.
    fn has_read_all_events(merchant: &Key) -> bool = NEW_EVENTS.has(merchant);
}

/// The digest of a settled action's request.
#[derive(Deserialize)]
struct SettledContent {
    #[serde(default)]
    content: Option<Digest>,
}

impl ReadModel {
    /// Returns the ids of a merchant's events from `first` to `last` inclusive, by number.
    pub fn events_numbered(
        &self,
        merchant: &Key,
        (first, last): (u64, u64),
    ) -> ReadResult<BTreeMap<u64, String>> {
        let before = first.saturating_sub(1);
        let most = usize::try_from(last.saturating_sub(first).saturating_add(1)).unwrap_or(0);
        let ids = EVENT_NUMBERS.under(merchant).entries_after(self, Some(before), most)?;
        Ok(ids.into_iter().take_while(|(number, _)| *number <= last).collect())
    }

    /// Returns the actions that become due after `after` (`None`: from the beginning) and by `now`,
    /// in order, and the time of the next one. Entries that are not due are not decoded.
    pub fn due_actions(
        &self,
        after: Option<DateTime<Utc>>,
        now: DateTime<Utc>,
    ) -> ReadResult<(Vec<Scheduled>, Option<DateTime<Utc>>)> {
        let mut due = Vec::new();
        let mut after = after.map(|after| behind_time_key(SCHEDULE, after));
        loop {
            let page = self.scan_from(SCHEDULE, after.as_deref(), PAGE)?;
            for (key, value) in &page {
                let at = time_of_key(key, SCHEDULE);
                if at.is_some_and(|at| at > now) {
                    return Ok((due, at));
                }
                due.push(decode(key, value)?);
            }
            let Some((last, _)) = page.into_iter().last() else { return Ok((due, None)) };
            after = Some(last);
        }
    }

    pub fn pending_of(&self, merchant: &Key, event: &str) -> ReadResult<Vec<PendingAction>> {
        ACTION_REQUESTS.of_event(merchant, event).list(self)
    }

    /// Returns at most `most` pending action requests, earliest due first.
    pub fn first_pending(&self, most: usize) -> ReadResult<Vec<PendingAction>> {
        let mut first = Vec::new();
        for (key, value) in self.scan_from(SCHEDULE, None, most)? {
            let scheduled: Scheduled = decode(&key, &value)?;
            first.extend(self.pending(&scheduled.id)?);
        }
        Ok(first)
    }

    pub fn action_results_of(&self, merchant: &Key, event: &str) -> ReadResult<Vec<ActionResult>> {
        ACTION_RESULTS.of_event(merchant, event).list(self)
    }

    /// Returns the digest of the request that uses a name of an event's actions; the outer `None`:
    /// the name is not used. Old records have no digest.
    pub fn used_name(
        &self,
        merchant: &Key,
        event: &str,
        name: &Name,
    ) -> ReadResult<Option<Option<Digest>>> {
        let (merchant, event, name) = (merchant.clone(), event.to_owned(), name.clone());
        let id = ActionRequestId { merchant, event, name };
        if let Some(pending) = self.pending(&id)? {
            return Ok(Some(pending.request.content));
        }
        let settled: Option<SettledContent> = self.read(&ACTION_RESULTS.key(&id))?;
        Ok(settled.map(|settled| settled.content))
    }

    /// Returns the value that a script stores under a key; null if there is none.
    pub fn stored_value(&self, script: &str, key: &str) -> ReadResult<Value> {
        Ok(STORED_VALUES.get(self, (script, key))?.unwrap_or_default())
    }

    /// Returns the total size of the values that a script stores.
    pub fn stored_size(&self, script: &str) -> ReadResult<ScriptValuesSize> {
        Ok(STORED_SIZES.get(self, script)?.unwrap_or_default())
    }

    /// Returns the total size of the values of all scripts.
    pub fn stored_total(&self) -> ReadResult<ScriptValuesSize> {
        let sizes = STORED_SIZES.list(self)?.into_iter();
        Ok(sizes.fold(ScriptValuesSize::default(), ScriptValuesSize::plus))
    }

    /// Returns every script that the state knows, by name.
    pub fn roster(&self) -> ReadResult<BTreeMap<String, KnownScript>> {
        Ok(ROSTER.entries(self)?.into_iter().collect())
    }

    /// Returns the cursors of a merchant's scripts that differ from its ledger, by name.
    pub fn hook_cursors(&self, merchant: &Key) -> ReadResult<Vec<(String, Cursor)>> {
        HOOK_CURSORS.under(merchant).entries(self)
    }

    /// Returns the length of an action's chain of causes; 0 if no hook requested it.
    pub fn hook_depth(&self, action: &Key) -> ReadResult<u32> {
        Ok(HOOK_DEPTHS.get(self, action)?.unwrap_or(0))
    }

    /// Returns at most `most` failed hook runs that are due at `now`, in the order of their times,
    /// and the time of the next one. A time beyond `latest` counts as due: the clock went back.
    pub fn due_retries(
        &self,
        (now, latest): (DateTime<Utc>, DateTime<Utc>),
        most: usize,
    ) -> ReadResult<(Vec<FailedHook>, Option<DateTime<Utc>>)> {
        let (mut due, mut next) = (Vec::new(), None);
        for (key, value) in self.scan_from(RETRIES, None, most)? {
            let at = time_of_key(&key, RETRIES);
            if at.is_some_and(|at| at > now) {
                next = at;
                break;
            }
            due.extend(self.read::<FailedHook>(&value)?);
        }
        for (_, value) in self.scan_from(RETRIES, Some(&behind_time_key(RETRIES, latest)), most)? {
            due.extend(self.read::<FailedHook>(&value)?);
        }
        Ok((due, next))
    }

    /// Returns the failed hook runs of an event.
    pub fn failed_runs_of(&self, merchant: &Key, event: &str) -> ReadResult<Vec<FailedHook>> {
        HOOKS_FAILED.under((merchant, event)).list(self)
    }

    /// Returns the listed failed actions of a merchant's events, oldest first.
    pub fn failed_actions_of(&self, merchant: &Key) -> ReadResult<Vec<FailedAction>> {
        FAILED_ACTIONS.under(merchant).list(self)
    }

    /// Returns the failed hook runs of an event, of all merchants.
    pub fn failed_of(&self, event: &str) -> ReadResult<Vec<FailedHook>> {
        let mut failed = Vec::new();
        for merchant in self.event_merchants()? {
            failed.extend(HOOKS_FAILED.under((&merchant, event)).list(self)?);
        }
        Ok(failed)
    }

    pub fn first_failed(&self, most: usize) -> ReadResult<Vec<FailedHook>> {
        let entries = self.scan_from(HOOKS_FAILED.prefix(), None, most)?;
        entries.iter().map(|(key, value)| decode(key, value)).collect()
    }

    /// Returns true if a script handles no further events of this merchant: too many runs failed.
    pub fn is_stopped(&self, merchant: &Key, script: &str) -> ReadResult<bool> {
        is_stopped(self, merchant, script)
    }

    pub fn stopped_scripts(&self, merchant: &Key) -> ReadResult<Vec<String>> {
        let counts = FAILED_COUNTS.under(merchant).entries(self)?.into_iter();
        Ok(counts.filter(|(_, count)| *count >= FAILED_MAX).map(|(script, _)| script).collect())
    }
}

pub(crate) fn failed_run_key(failed: &FailedHook) -> ((&Key, &str), &str) {
    ((&failed.merchant, &failed.event), &failed.failed.script)
}

pub(crate) fn is_stopped(entries: &impl Entries, merchant: &Key, script: &str) -> ReadResult<bool> {
    Ok(FAILED_COUNTS.get(entries, (merchant, script))?.is_some_and(|count| count >= FAILED_MAX))
}

fn hook_key(prefix: &[u8], merchant: &Key, event: &str, name: &str) -> Vec<u8> {
    let merchant = merchant.to_string();
    [prefix, merchant.as_bytes(), b"\0", event.as_bytes(), b"\0", name.as_bytes()].concat()
}

/// Key of an action request in the order of due times.
pub(crate) fn schedule_key(scheduled: &Scheduled) -> Vec<u8> {
    let ActionRequestId { merchant, event, name } = &scheduled.id;
    hook_key(&time_key(SCHEDULE, scheduled.at), merchant, event, name.as_str())
}

/// Key of a failed hook run in the order of retries; `None` if it is not retried.
pub(crate) fn retry_key(failed: &FailedHook) -> Option<Vec<u8>> {
    let prefix = time_key(RETRIES, failed.failed.retry_at?);
    Some(hook_key(&prefix, &failed.merchant, &failed.event, &failed.failed.script))
}

/// Prefix of the entries of one moment; keys sort by time.
fn time_key(prefix: &[u8], at: DateTime<Utc>) -> Vec<u8> {
    [prefix, &at.timestamp_micros().wrapping_sub(i64::MIN).to_be_bytes()].concat()
}

/// Key behind all entries of one moment.
fn behind_time_key(prefix: &[u8], at: DateTime<Utc>) -> Vec<u8> {
    let mut key = time_key(prefix, at);
    key.push(u8::MAX);
    key
}

/// Parses the moment in a timed key, in whole microseconds.
fn time_of_key(key: &[u8], prefix: &[u8]) -> Option<DateTime<Utc>> {
    let order = key.get(prefix.len()..)?.first_chunk()?;
    DateTime::from_timestamp_micros(i64::from_be_bytes(*order).wrapping_add(i64::MIN))
}
