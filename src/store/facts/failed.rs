//! Reads of hooks that failed: those that are run again, and those that wait for a person.

use chrono::{DateTime, Utc};

use super::hooks::{behind, moment, of, timed};
use super::{FactError, Facts, decode_entry, read};
use crate::base::id::Key;
use crate::model::ran::{FAILED_MAX, FailedHook};
use crate::store::index::{Batch, Index};

/// Failed hooks in the order in which they are run again.
const RETRIES: &[u8] = b"w/g/";
/// Hooks that failed.
pub(in crate::store) const HOOKS_FAILED: &[u8] = b"w/f/";
/// The number of them of each merchant and script.
pub(in crate::store) const FAILED_COUNTS: &[u8] = b"w/e/";

impl Facts {
    /// Failed hooks that are run again by `now`, at most so many, in the order of their times; and the moment of the
    /// first one that is not. A time beyond `latest` counts as come: the clock went back.
    pub fn retries(
        &self,
        (now, latest): (DateTime<Utc>, DateTime<Utc>),
        most: usize,
    ) -> Result<(Vec<FailedHook>, Option<DateTime<Utc>>), FactError> {
        let (mut due, mut next) = (Vec::new(), None);
        for (key, value) in self.index.scan_from(RETRIES, None, most)? {
            let at = moment(&key, RETRIES);
            if at.is_some_and(|at| at > now) {
                next = at;
                break;
            }
            due.extend(self.entry::<FailedHook>(&value)?);
        }
        let beyond = behind(RETRIES, latest);
        for (_, value) in self.index.scan_from(RETRIES, Some(&beyond), most)? {
            due.extend(self.entry::<FailedHook>(&value)?);
        }
        Ok((due, next))
    }

    /// Failed hooks of an event, whosever it is.
    pub fn failed_of(&self, event: &str) -> Result<Vec<FailedHook>, FactError> {
        let mut failed = Vec::new();
        for merchant in self.event_merchants()? {
            failed.extend(self.list::<FailedHook>(&of(HOOKS_FAILED, &merchant, event, ""))?);
        }
        Ok(failed)
    }

    /// Failed hooks, at most so many.
    pub fn first_failed(&self, most: usize) -> Result<Vec<FailedHook>, FactError> {
        let entries = self.index.scan_from(HOOKS_FAILED, None, most)?;
        entries.iter().map(|(key, value)| decode_entry(key, value)).collect()
    }

    /// Hooks that failed: those that are run again, and those that wait for a person.
    pub fn failed_hooks(&self) -> Result<Vec<FailedHook>, FactError> {
        self.list(HOOKS_FAILED)
    }

    /// Returns whether a script takes no further events of this merchant, since too many of its runs failed.
    pub fn is_stopped(&self, merchant: &Key, script: &str) -> Result<bool, FactError> {
        Ok(failed_count(&*self.index, &Batch::new(), merchant, script)? >= FAILED_MAX)
    }

    /// The scripts that take no further events of a merchant.
    pub fn stopped(&self, merchant: &Key) -> Result<Vec<String>, FactError> {
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

/// The number of a script's failed runs for a merchant.
pub(in crate::store) fn failed_count(
    index: &dyn Index,
    batch: &Batch,
    merchant: &Key,
    script: &str,
) -> Result<u64, FactError> {
    Ok(read(index, batch, &failed_count_key(merchant, script))?.unwrap_or(0))
}

/// The entry of that number.
pub(in crate::store) fn failed_count_key(merchant: &Key, script: &str) -> Vec<u8> {
    [failed_counts_of(merchant).as_slice(), script.as_bytes()].concat()
}

/// The prefix of these numbers' entries.
fn failed_counts_of(merchant: &Key) -> Vec<u8> {
    [FAILED_COUNTS, merchant.to_string().as_bytes(), b"\0"].concat()
}

/// The entry of a failed hook's place in the order of times; none where it is not run again.
pub(in crate::store) fn retry_key(failed: &FailedHook) -> Option<Vec<u8>> {
    let prefix = timed(RETRIES, failed.failed.again?);
    Some(of(&prefix, &failed.merchant, &failed.event, &failed.failed.script))
}

/// The prefix of the entries of an event's failed hooks.
pub(in crate::store) fn failed_of(merchant: &Key, event: &str) -> Vec<u8> {
    of(HOOKS_FAILED, merchant, event, "")
}

/// The entry of a hook that failed.
pub(in crate::store) fn failed_key(merchant: &Key, event: &str, script: &str) -> Vec<u8> {
    of(HOOKS_FAILED, merchant, event, script)
}
