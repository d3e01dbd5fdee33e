//! Reads of failed hook runs: those that are retried, and those that need attention.

use chrono::{DateTime, Utc};

use super::hooks::{behind_time_key, hook_key, time_key, time_of_key};
use super::model::{ReadModel, ReadModelError, decode_entry, read};
use crate::base::id::Key;
use crate::model::events::hook_run::{FAILED_MAX, FailedHook};
use crate::store::index::ordered::{Batch, Index};

/// Failed hook runs in the order of their retries.
const RETRIES: &[u8] = b"w/g/";
/// Prefix of failed hook runs.
pub(in crate::store) const HOOKS_FAILED: &[u8] = b"w/f/";
/// Prefix of the number of failed hook runs by merchant and script.
pub(in crate::store) const FAILED_COUNTS: &[u8] = b"w/e/";

impl ReadModel {
    /// Returns at most `most` failed hook runs that are due at `now`, in the order of their times,
    /// and the time of the next one. A time beyond `latest` counts as due, since the clock went
    /// back.
    pub fn due_retries(
        &self,
        (now, latest): (DateTime<Utc>, DateTime<Utc>),
        most: usize,
    ) -> Result<(Vec<FailedHook>, Option<DateTime<Utc>>), ReadModelError> {
        let (mut due, mut next) = (Vec::new(), None);
        for (key, value) in self.index.scan_from(RETRIES, None, most)? {
            let at = time_of_key(&key, RETRIES);
            if at.is_some_and(|at| at > now) {
                next = at;
                break;
            }
            due.extend(self.entry::<FailedHook>(&value)?);
        }
        let beyond = behind_time_key(RETRIES, latest);
        for (_, value) in self.index.scan_from(RETRIES, Some(&beyond), most)? {
            due.extend(self.entry::<FailedHook>(&value)?);
        }
        Ok((due, next))
    }

    /// Returns the failed hook runs of an event, of all merchants.
    pub fn failed_of(&self, event: &str) -> Result<Vec<FailedHook>, ReadModelError> {
        let mut failed = Vec::new();
        for merchant in self.event_merchants()? {
            failed.extend(self.list::<FailedHook>(&hook_key(
                HOOKS_FAILED,
                &merchant,
                event,
                "",
            ))?);
        }
        Ok(failed)
    }

    /// Returns at most `most` failed hook runs.
    pub fn first_failed(&self, most: usize) -> Result<Vec<FailedHook>, ReadModelError> {
        let entries = self.index.scan_from(HOOKS_FAILED, None, most)?;
        entries.iter().map(|(key, value)| decode_entry(key, value)).collect()
    }

    /// Returns all failed hook runs: those that are retried, and those that need attention.
    pub fn failed_hooks(&self) -> Result<Vec<FailedHook>, ReadModelError> {
        self.list(HOOKS_FAILED)
    }

    /// Returns true if a script handles no further events of this merchant, since too many of its
    /// runs failed.
    pub fn is_stopped(&self, merchant: &Key, script: &str) -> Result<bool, ReadModelError> {
        Ok(failed_count(&*self.index, &Batch::new(), merchant, script)? >= FAILED_MAX)
    }

    /// Returns the scripts that handle no further events of a merchant.
    pub fn stopped_scripts(&self, merchant: &Key) -> Result<Vec<String>, ReadModelError> {
        let prefix = failed_counts_of(merchant);
        let mut stopped = Vec::new();
        for (key, value) in self.index.scan(&prefix)? {
            if decode_entry::<u64>(&key, &value)? >= FAILED_MAX {
                let name = key.get(prefix.len()..).unwrap_or_default();
                stopped.push(String::from_utf8_lossy(name).into_owned());
            }
        }
        Ok(stopped)
    }
}

/// Returns the number of a script's failed runs for a merchant.
pub(in crate::store) fn failed_count(
    index: &dyn Index,
    batch: &Batch,
    merchant: &Key,
    script: &str,
) -> Result<u64, ReadModelError> {
    Ok(read(index, batch, &failed_count_key(merchant, script))?.unwrap_or(0))
}

/// Key of the entry with the number of a script's failed runs for a merchant.
pub(in crate::store) fn failed_count_key(merchant: &Key, script: &str) -> Vec<u8> {
    [failed_counts_of(merchant).as_slice(), script.as_bytes()].concat()
}

/// Prefix of the counts of failed runs of a merchant.
fn failed_counts_of(merchant: &Key) -> Vec<u8> {
    [FAILED_COUNTS, merchant.to_string().as_bytes(), b"\0"].concat()
}

/// Key of a failed hook run in the order of retries; `None` if it is not retried.
pub(in crate::store) fn retry_key(failed: &FailedHook) -> Option<Vec<u8>> {
    let prefix = time_key(RETRIES, failed.failed.retry_at?);
    Some(hook_key(&prefix, &failed.merchant, &failed.event, &failed.failed.script))
}

/// Prefix of an event's failed hook runs.
pub(in crate::store) fn failed_of(merchant: &Key, event: &str) -> Vec<u8> {
    hook_key(HOOKS_FAILED, merchant, event, "")
}

pub(in crate::store) fn failed_key(merchant: &Key, event: &str, script: &str) -> Vec<u8> {
    hook_key(HOOKS_FAILED, merchant, event, script)
}
