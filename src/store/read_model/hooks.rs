//! Reads of the hooks' action requests, their results, the scripts' stored values, and their
//! cursors.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::events::{number_key, numbers_of};
use super::model::{ReadModel, ReadModelError, decode_entry, parse_key, read};
use crate::base::id::Key;
use crate::model::events::hook_run::{
    ActionRequestId, ActionResult, Cursor, FailedAction, PendingAction, Scheduled,
};
use crate::model::events::scripts::{KnownScript, ScriptValuesSize};
use crate::store::index::ordered::Batch;

const EVENTS_TO_RUN: &[u8] = b"w/r/";
/// Prefix of pending action requests.
pub(in crate::store) const ACTION_REQUESTS: &[u8] = b"w/p/";
/// Prefix of pending action requests in the order in which they become due.
const SCHEDULE: &[u8] = b"w/a/";
const ACTION_RESULTS: &[u8] = b"w/d/";
const NOTIFICATIONS_SENDING: &[u8] = b"w/t/";
/// Prefix of failed actions of hooks.
pub(in crate::store) const FAILED_ACTIONS: &[u8] = b"w/x/";
/// Prefix of the values that scripts store.
pub(in crate::store) const STORED_VALUES: &[u8] = b"w/k/";
/// Prefix of the scripts' cursors.
pub(in crate::store) const HOOK_CURSORS: &[u8] = b"w/o/";
const STORED_SIZES: &[u8] = b"w/z/";
const HOOKS_AT_MOST: &[u8] = b"w/m/";
/// Prefix of the scripts that the state knows.
pub(in crate::store) const ROSTER: &[u8] = b"w/n/";
const HOOK_DEPTHS: &[u8] = b"w/c/";
const DOUBTED_ACTIONS: &[u8] = b"w/u/";
/// Prefix of the event numbers behind which a merchant's events are certainly new.
pub(in crate::store) const NEW_EVENTS: &[u8] = b"w/s/";

/// Entries read at once: most reads find few due entries.
const PAGE: usize = 16;

impl ReadModel {
    /// Returns the merchants whose events have hooks to run.
    pub fn hooks_to_run(&self) -> Result<Vec<Key>, ReadModelError> {
        let entries = self.index.scan(EVENTS_TO_RUN)?.into_iter();
        entries
            .map(|(key, _)| parse_key(key.get(EVENTS_TO_RUN.len()..).unwrap_or_default()))
            .collect()
    }

    /// Returns the ids of a merchant's events from `first` to `last` inclusive, by number.
    pub fn events_numbered(
        &self,
        merchant: &Key,
        (first, last): (u64, u64),
    ) -> Result<BTreeMap<u64, String>, ReadModelError> {
        let (prefix, before) =
            (numbers_of(merchant), number_key(merchant, first.saturating_sub(1)));
        let most = usize::try_from(last.saturating_sub(first).saturating_add(1)).unwrap_or(0);
        let entries = self.index.scan_from(&prefix, Some(&before), most)?.into_iter();
        let numbered = entries.map(|(key, value)| {
            let number = key.get(prefix.len()..).and_then(|number| number.try_into().ok());
            Ok((number.map_or(0, u64::from_be_bytes), decode_entry(&key, &value)?))
        });
        let mut numbered = numbered.collect::<Result<BTreeMap<_, _>, ReadModelError>>()?;
        numbered.retain(|number, _| *number <= last);
        Ok(numbered)
    }

    /// Returns the actions that become due after `after` (`None`: from the beginning) and by `now`,
    /// in order, and the time of the next one. Entries that are not due are not decoded.
    pub fn due_actions(
        &self,
        after: Option<DateTime<Utc>>,
        now: DateTime<Utc>,
    ) -> Result<(Vec<Scheduled>, Option<DateTime<Utc>>), ReadModelError> {
        let mut due = Vec::new();
        let mut after = after.map(|after| behind_time_key(SCHEDULE, after));
        loop {
            let page = self.index.scan_from(SCHEDULE, after.as_deref(), PAGE)?;
            for (key, value) in &page {
                let at = time_of_key(key, SCHEDULE);
                if at.is_some_and(|at| at > now) {
                    return Ok((due, at));
                }
                due.push(decode_entry(key, value)?);
            }
            match page.into_iter().last() {
                Some((key, _)) => after = Some(key),
                None => return Ok((due, None)),
            }
        }
    }

    /// Returns a pending action request.
    pub fn pending(&self, id: &ActionRequestId) -> Result<Option<PendingAction>, ReadModelError> {
        read(&*self.index, &Batch::new(), &request_key(id))
    }

    /// Returns the pending action requests of one event.
    pub fn pending_of(
        &self,
        merchant: &Key,
        event: &str,
    ) -> Result<Vec<PendingAction>, ReadModelError> {
        self.list(&hook_key(ACTION_REQUESTS, merchant, event, ""))
    }

    /// Returns at most `most` pending action requests, earliest due first.
    pub fn first_pending(&self, most: usize) -> Result<Vec<PendingAction>, ReadModelError> {
        let mut first = Vec::new();
        for (key, value) in self.index.scan_from(SCHEDULE, None, most)? {
            let scheduled: Scheduled = decode_entry(&key, &value)?;
            first.extend(self.pending(&scheduled.id)?);
        }
        Ok(first)
    }

    /// Returns every pending action request.
    pub fn all_pending(&self) -> Result<Vec<PendingAction>, ReadModelError> {
        self.list(ACTION_REQUESTS)
    }

    /// Returns the results of the actions requested for one event.
    pub fn action_results_of(
        &self,
        merchant: &Key,
        event: &str,
    ) -> Result<Vec<ActionResult>, ReadModelError> {
        self.list(&results_of(merchant, event))
    }

    /// Returns the result of an action.
    pub fn action_result(
        &self,
        id: &ActionRequestId,
    ) -> Result<Option<ActionResult>, ReadModelError> {
        read(&*self.index, &Batch::new(), &result_key(id))
    }

    /// Returns true if sending a notification was begun and its result was never recorded.
    pub fn is_sending(&self, id: &ActionRequestId) -> Result<bool, ReadModelError> {
        Ok(self.index.get(&sending_key(id))?.is_some())
    }

    /// Returns the listed failed actions of hooks: the newest of each merchant, oldest first.
    pub fn failed_actions(&self) -> Result<Vec<FailedAction>, ReadModelError> {
        self.list(FAILED_ACTIONS)
    }

    /// Returns the value that a script stores under a key; null if there is none.
    pub fn stored_value(&self, script: &str, key: &str) -> Result<Value, ReadModelError> {
        let kept: Option<Value> =
            read(&*self.index, &Batch::new(), &stored_value_key(script, key))?;
        Ok(kept.unwrap_or_default())
    }

    /// Returns the total size of the values that a script stores.
    pub fn stored_size(&self, script: &str) -> Result<ScriptValuesSize, ReadModelError> {
        Ok(read(&*self.index, &Batch::new(), &stored_size_key(script))?.unwrap_or_default())
    }

    /// Returns the total size of the values of all scripts.
    pub fn stored_total(&self) -> Result<ScriptValuesSize, ReadModelError> {
        let sizes: Vec<ScriptValuesSize> = self.list(STORED_SIZES)?;
        Ok(sizes.into_iter().fold(ScriptValuesSize::default(), ScriptValuesSize::plus))
    }

    /// Returns every script that the state knows, by name.
    pub fn roster(&self) -> Result<BTreeMap<String, KnownScript>, ReadModelError> {
        let entries = self.index.scan(ROSTER)?.into_iter();
        entries
            .map(|(key, value)| {
                let name = key.get(ROSTER.len()..).unwrap_or_default();
                Ok((String::from_utf8_lossy(name).into_owned(), decode_entry(&key, &value)?))
            })
            .collect()
    }

    /// Returns a script's cursor; `None` if the script is where the merchant's ledger is.
    pub fn hook_cursor(
        &self,
        merchant: &Key,
        script: &str,
    ) -> Result<Option<Cursor>, ReadModelError> {
        read(&*self.index, &Batch::new(), &cursor_key(merchant, script))
    }

    /// Returns the cursors of a merchant's scripts that differ from its ledger, by name.
    pub fn hook_cursors(&self, merchant: &Key) -> Result<Vec<(String, Cursor)>, ReadModelError> {
        let prefix = cursors_of(merchant);
        let entries = self.index.scan(&prefix)?.into_iter();
        entries
            .map(|(key, value)| {
                let name = key.get(prefix.len()..).unwrap_or_default();
                let name = String::from_utf8_lossy(name).into_owned();
                Ok((name, decode_entry(&key, &value)?))
            })
            .collect()
    }

    /// Returns the length of an action's chain of causes; 0 if no hook requested it.
    pub fn hook_depth(&self, action: &Key) -> Result<u32, ReadModelError> {
        Ok(read(&*self.index, &Batch::new(), &depth_key(action))?.unwrap_or(0))
    }

    /// Returns true if a lost state may have done an action: in this state its event was known
    /// before the complete list of events was read.
    pub fn is_doubted(&self, action: &Key) -> Result<bool, ReadModelError> {
        Ok(self.index.get(&doubt_key(action))?.is_some())
    }

    /// Returns true if a merchant's complete list of events was read since this state or its epoch
    /// began.
    pub fn has_read_all_events(&self, merchant: &Key) -> Result<bool, ReadModelError> {
        Ok(self.index.get(&new_events_key(merchant))?.is_some())
    }
}

/// Key of the entry that marks a merchant with hooks to run.
pub(in crate::store) fn to_run_key(merchant: &Key) -> Vec<u8> {
    [EVENTS_TO_RUN, merchant.to_string().as_bytes()].concat()
}

pub(crate) fn hook_key(prefix: &[u8], merchant: &Key, event: &str, name: &str) -> Vec<u8> {
    let merchant = merchant.to_string();
    [prefix, merchant.as_bytes(), b"\0", event.as_bytes(), b"\0", name.as_bytes()].concat()
}

/// Key of the entry of a pending action request.
pub(in crate::store) fn request_key(id: &ActionRequestId) -> Vec<u8> {
    hook_key(ACTION_REQUESTS, &id.merchant, &id.event, id.name.as_str())
}

/// Key of an action request in the order of due times.
pub(in crate::store) fn schedule_key(scheduled: &Scheduled) -> Vec<u8> {
    let ActionRequestId { merchant, event, name } = &scheduled.id;
    hook_key(&time_key(SCHEDULE, scheduled.at), merchant, event, name.as_str())
}

/// Prefix of an event's pending action requests.
pub(in crate::store) fn requests_of(merchant: &Key, event: &str) -> Vec<u8> {
    hook_key(ACTION_REQUESTS, merchant, event, "")
}

/// Prefix of the results of an event's actions.
pub(in crate::store) fn results_of(merchant: &Key, event: &str) -> Vec<u8> {
    hook_key(ACTION_RESULTS, merchant, event, "")
}

/// Prefix of a merchant's failed actions.
pub(in crate::store) fn failed_actions_of(merchant: &Key) -> Vec<u8> {
    [FAILED_ACTIONS, merchant.to_string().as_bytes(), b"\0"].concat()
}

/// Prefix of the entries of one moment; keys sort by time.
pub(crate) fn time_key(prefix: &[u8], at: DateTime<Utc>) -> Vec<u8> {
    let order = at.timestamp_micros().wrapping_sub(i64::MIN).to_be_bytes();
    [prefix, &order].concat()
}

/// Key behind all entries of one moment.
pub(crate) fn behind_time_key(prefix: &[u8], at: DateTime<Utc>) -> Vec<u8> {
    let mut key = time_key(prefix, at);
    key.push(u8::MAX);
    key
}

/// Parses the moment in a timed key, in whole microseconds.
pub(crate) fn time_of_key(key: &[u8], prefix: &[u8]) -> Option<DateTime<Utc>> {
    let order = key.get(prefix.len()..)?.first_chunk()?;
    DateTime::from_timestamp_micros(i64::from_be_bytes(*order).wrapping_add(i64::MIN))
}

/// Key of the entry of an action's result.
pub(in crate::store) fn result_key(id: &ActionRequestId) -> Vec<u8> {
    hook_key(ACTION_RESULTS, &id.merchant, &id.event, id.name.as_str())
}

/// Key of the entry of a notification that is being sent.
pub(in crate::store) fn sending_key(id: &ActionRequestId) -> Vec<u8> {
    hook_key(NOTIFICATIONS_SENDING, &id.merchant, &id.event, id.name.as_str())
}

/// Key of the entry of a failed action; numbers count from 1.
pub(in crate::store) fn failed_action_key(merchant: &Key, number: u64) -> Vec<u8> {
    [FAILED_ACTIONS, merchant.to_string().as_bytes(), b"\0", &number.to_be_bytes()].concat()
}

/// Key of the entry of a value that a script stores.
pub(in crate::store) fn stored_value_key(script: &str, key: &str) -> Vec<u8> {
    [STORED_VALUES, script.as_bytes(), b"\0", key.as_bytes()].concat()
}

/// Prefix of the values that a script stores.
pub(in crate::store) fn stored_values_of(script: &str) -> Vec<u8> {
    [STORED_VALUES, script.as_bytes(), b"\0"].concat()
}

/// Key of the entry with the total size of a script's values.
pub(in crate::store) fn stored_size_key(script: &str) -> Vec<u8> {
    [STORED_SIZES, script.as_bytes()].concat()
}

/// Key of the entry that counts a script's notifications for a merchant under a key of `at_most`.
pub(in crate::store) fn at_most_key(merchant: &Key, script: &str, key: &str) -> Vec<u8> {
    hook_key(HOOKS_AT_MOST, merchant, script, key)
}

pub(in crate::store) fn roster_key(script: &str) -> Vec<u8> {
    [ROSTER, script.as_bytes()].concat()
}

/// Prefix of the cursors of a merchant's scripts.
pub(in crate::store) fn cursors_of(merchant: &Key) -> Vec<u8> {
    [HOOK_CURSORS, merchant.to_string().as_bytes(), b"\0"].concat()
}

pub(in crate::store) fn cursor_key(merchant: &Key, script: &str) -> Vec<u8> {
    [cursors_of(merchant).as_slice(), script.as_bytes()].concat()
}

/// Key of the entry with the length of an action's chain of causes.
pub(in crate::store) fn depth_key(action: &Key) -> Vec<u8> {
    [HOOK_DEPTHS, action.to_string().as_bytes()].concat()
}

/// Key of the entry of an action that a lost state may have done.
pub(in crate::store) fn doubt_key(action: &Key) -> Vec<u8> {
    [DOUBTED_ACTIONS, action.to_string().as_bytes()].concat()
}

/// Key of the entry with the number behind which a merchant's events are certainly new.
pub(in crate::store) fn new_events_key(merchant: &Key) -> Vec<u8> {
    [NEW_EVENTS, merchant.to_string().as_bytes()].concat()
}
