//! Reads of what hooks asked for, keep, and failed at.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::events::{number_key, numbers_of};
use super::{FactError, Facts, decode_entry, parse_key, read};
use crate::base::id::Key;
use crate::model::kept::KeptSize;
use crate::model::ran::{Cursor, Granted, Pending, Scheduled, Undone, WishId};
use crate::model::roster::Enrolled;
use crate::store::index::Batch;

const EVENTS_TO_RUN: &[u8] = b"w/r/";
/// Actions that are not settled.
pub(in crate::store) const WISHES: &[u8] = b"w/p/";
/// The same in the order in which they become due.
const SCHEDULE: &[u8] = b"w/a/";
const WISHES_GRANTED: &[u8] = b"w/d/";
const WISHES_TELLING: &[u8] = b"w/t/";
/// Actions of hooks that were not done.
pub(in crate::store) const UNDONE: &[u8] = b"w/x/";
/// Values that scripts keep.
pub(in crate::store) const HOOKS_KEPT: &[u8] = b"w/k/";
/// Places of scripts.
pub(in crate::store) const HOOK_CURSORS: &[u8] = b"w/o/";
const HOOKS_KEPT_SIZE: &[u8] = b"w/z/";
const HOOKS_AT_MOST: &[u8] = b"w/m/";
/// Every script that the state knows.
pub(in crate::store) const ROSTER: &[u8] = b"w/n/";
const HOOK_DEPTHS: &[u8] = b"w/c/";
const HOOKS_DOUBTED: &[u8] = b"w/u/";
/// From where on events are surely new.
pub(in crate::store) const HOOKS_SURE: &[u8] = b"w/s/";

/// Entries that are read at once: most looks find few that are due.
const PAGE: usize = 16;

impl Facts {
    /// Those whose events have hooks to be run.
    pub fn hooks_to_run(&self) -> Result<Vec<Key>, FactError> {
        let entries = self.index.scan(EVENTS_TO_RUN)?.into_iter();
        entries
            .map(|(key, _)| parse_key(key.get(EVENTS_TO_RUN.len()..).unwrap_or_default()))
            .collect()
    }

    /// The ids of a merchant's events of these numbers, the last one too, by their numbers.
    pub fn events_numbered(
        &self,
        merchant: &Key,
        (first, last): (u64, u64),
    ) -> Result<BTreeMap<u64, String>, FactError> {
        let (prefix, before) =
            (numbers_of(merchant), number_key(merchant, first.saturating_sub(1)));
        let most = usize::try_from(last.saturating_sub(first).saturating_add(1)).unwrap_or(0);
        let entries = self.index.scan_from(&prefix, Some(&before), most)?.into_iter();
        let numbered = entries.map(|(key, value)| {
            let number = key.get(prefix.len()..).and_then(|number| number.try_into().ok());
            Ok((number.map_or(0, u64::from_be_bytes), decode_entry(&key, &value)?))
        });
        let mut numbered = numbered.collect::<Result<BTreeMap<_, _>, FactError>>()?;
        numbered.retain(|number, _| *number <= last);
        Ok(numbered)
    }

    /// The actions that become due after `after`, or ever before, and by `now`, in their order; and the moment of the
    /// first one behind them. Entries that are not due are not decoded.
    pub fn scheduled(
        &self,
        after: Option<DateTime<Utc>>,
        now: DateTime<Utc>,
    ) -> Result<(Vec<Scheduled>, Option<DateTime<Utc>>), FactError> {
        let mut due = Vec::new();
        let mut after = after.map(|after| behind(SCHEDULE, after));
        loop {
            let page = self.index.scan_from(SCHEDULE, after.as_deref(), PAGE)?;
            for (key, value) in &page {
                let at = moment(key, SCHEDULE);
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

    /// An action of a hook that is not settled.
    pub fn pending(&self, id: &WishId) -> Result<Option<Pending>, FactError> {
        read(&*self.index, &Batch::new(), &wish_key(id))
    }

    /// The actions that the hooks of one event asked for and that are not settled.
    pub fn pending_of(&self, merchant: &Key, event: &str) -> Result<Vec<Pending>, FactError> {
        self.list(&of(WISHES, merchant, event, ""))
    }

    /// The actions of hooks that are not settled, those first that become due first: at most so many.
    pub fn first_pending(&self, most: usize) -> Result<Vec<Pending>, FactError> {
        let mut first = Vec::new();
        for (key, value) in self.index.scan_from(SCHEDULE, None, most)? {
            let scheduled: Scheduled = decode_entry(&key, &value)?;
            first.extend(self.pending(&scheduled.id)?);
        }
        Ok(first)
    }

    /// Every action of a hook that is not settled.
    pub fn wishes(&self) -> Result<Vec<Pending>, FactError> {
        self.list(WISHES)
    }

    /// What became of the actions that the hooks of one event asked for.
    pub fn granted_of(&self, merchant: &Key, event: &str) -> Result<Vec<Granted>, FactError> {
        self.list(&granted_of(merchant, event))
    }

    /// What became of an action of a hook.
    pub fn granted(&self, id: &WishId) -> Result<Option<Granted>, FactError> {
        read(&*self.index, &Batch::new(), &granted_key(id))
    }

    /// Whether a notification was begun to be told, and nobody wrote down what became of it.
    pub fn is_telling(&self, id: &WishId) -> Result<bool, FactError> {
        Ok(self.index.get(&telling_key(id))?.is_some())
    }

    /// Actions of hooks that ended without being done, by merchant, the oldest first: the newest of each.
    pub fn undone(&self) -> Result<Vec<Undone>, FactError> {
        self.list(UNDONE)
    }

    /// What a script keeps under a key; null where there is nothing.
    pub fn kept(&self, script: &str, key: &str) -> Result<Value, FactError> {
        let kept: Option<Value> = read(&*self.index, &Batch::new(), &kept_key(script, key))?;
        Ok(kept.unwrap_or_default())
    }

    /// How much a script keeps.
    pub fn kept_size(&self, script: &str) -> Result<KeptSize, FactError> {
        Ok(read(&*self.index, &Batch::new(), &kept_size_key(script))?.unwrap_or_default())
    }

    /// How much all scripts keep together.
    pub fn kept_total(&self) -> Result<KeptSize, FactError> {
        let sizes: Vec<KeptSize> = self.list(HOOKS_KEPT_SIZE)?;
        Ok(sizes.into_iter().fold(KeptSize::default(), KeptSize::and))
    }

    /// Every script that the state knows, by its name.
    pub fn roster(&self) -> Result<BTreeMap<String, Enrolled>, FactError> {
        let entries = self.index.scan(ROSTER)?.into_iter();
        entries
            .map(|(key, value)| {
                let name = key.get(ROSTER.len()..).unwrap_or_default();
                Ok((String::from_utf8_lossy(name).into_owned(), decode_entry(&key, &value)?))
            })
            .collect()
    }

    /// How far a script has come, where others are elsewhere.
    pub fn hook_cursor(&self, merchant: &Key, script: &str) -> Result<Option<Cursor>, FactError> {
        read(&*self.index, &Batch::new(), &cursor_key(merchant, script))
    }

    /// How far each script has come that is ahead of another one, by its name.
    pub fn hook_cursors(&self, merchant: &Key) -> Result<Vec<(String, Cursor)>, FactError> {
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

    /// How long the chain of causes is that an action stands in; 0: no hook asked for it.
    pub fn hook_depth(&self, action: &Key) -> Result<u32, FactError> {
        Ok(read(&*self.index, &Batch::new(), &depth_key(action))?.unwrap_or(0))
    }

    /// Whether a state that is lost may have had an action done, since it may have had its event: in this one the event
    /// was there before a look at the whole list of events.
    pub fn is_doubted(&self, action: &Key) -> Result<bool, FactError> {
        Ok(self.index.get(&doubt_key(action))?.is_some())
    }

    /// Whether the whole list of a merchant's events was read since this state, or its epoch, began.
    pub fn is_sure(&self, merchant: &Key) -> Result<bool, FactError> {
        Ok(self.index.get(&sure_key(merchant))?.is_some())
    }
}

/// The entry of one whose events have hooks to be run.
pub(in crate::store) fn to_run_key(merchant: &Key) -> Vec<u8> {
    [EVENTS_TO_RUN, merchant.to_string().as_bytes()].concat()
}

pub(super) fn of(prefix: &[u8], merchant: &Key, event: &str, name: &str) -> Vec<u8> {
    let merchant = merchant.to_string();
    [prefix, merchant.as_bytes(), b"\0", event.as_bytes(), b"\0", name.as_bytes()].concat()
}

/// The entry of an action that is not settled.
pub(in crate::store) fn wish_key(id: &WishId) -> Vec<u8> {
    of(WISHES, &id.merchant, &id.event, id.name.as_str())
}

/// The entry of its place in the order of times.
pub(in crate::store) fn schedule_key(scheduled: &Scheduled) -> Vec<u8> {
    let WishId { merchant, event, name } = &scheduled.id;
    of(&timed(SCHEDULE, scheduled.at), merchant, event, name.as_str())
}

/// Where the entries of an event's actions begin that are not settled.
pub(in crate::store) fn wishes_of(merchant: &Key, event: &str) -> Vec<u8> {
    of(WISHES, merchant, event, "")
}

/// Where the entries of an event's actions begin that are settled.
pub(in crate::store) fn granted_of(merchant: &Key, event: &str) -> Vec<u8> {
    of(WISHES_GRANTED, merchant, event, "")
}

/// Where the entries of a merchant's actions begin that were not done.
pub(in crate::store) fn undone_of(merchant: &Key) -> Vec<u8> {
    [UNDONE, merchant.to_string().as_bytes(), b"\0"].concat()
}

/// Where the entries of this moment begin: keys are in the order of their times.
pub(super) fn timed(prefix: &[u8], at: DateTime<Utc>) -> Vec<u8> {
    let order = at.timestamp_micros().wrapping_sub(i64::MIN).to_be_bytes();
    [prefix, &order].concat()
}

/// Behind all entries of this moment.
pub(super) fn behind(prefix: &[u8], at: DateTime<Utc>) -> Vec<u8> {
    let mut key = timed(prefix, at);
    key.push(u8::MAX);
    key
}

/// The moment in the key of such an entry, in whole microseconds.
pub(super) fn moment(key: &[u8], prefix: &[u8]) -> Option<DateTime<Utc>> {
    let order = key.get(prefix.len()..)?.first_chunk()?;
    DateTime::from_timestamp_micros(i64::from_be_bytes(*order).wrapping_add(i64::MIN))
}

/// The entry of an action that is.
pub(in crate::store) fn granted_key(id: &WishId) -> Vec<u8> {
    of(WISHES_GRANTED, &id.merchant, &id.event, id.name.as_str())
}

/// The entry of a notification that is being told.
pub(in crate::store) fn telling_key(id: &WishId) -> Vec<u8> {
    of(WISHES_TELLING, &id.merchant, &id.event, id.name.as_str())
}

/// The entry of an action that was not done: they are counted from 1.
pub(in crate::store) fn undone_key(merchant: &Key, number: u64) -> Vec<u8> {
    [UNDONE, merchant.to_string().as_bytes(), b"\0", &number.to_be_bytes()].concat()
}

/// The entry of what a script keeps.
pub(in crate::store) fn kept_key(script: &str, key: &str) -> Vec<u8> {
    [HOOKS_KEPT, script.as_bytes(), b"\0", key.as_bytes()].concat()
}

/// Where the entries of all that a script keeps begin.
pub(in crate::store) fn kept_of(script: &str) -> Vec<u8> {
    [HOOKS_KEPT, script.as_bytes(), b"\0"].concat()
}

/// The entry of how much a script keeps.
pub(in crate::store) fn kept_size_key(script: &str) -> Vec<u8> {
    [HOOKS_KEPT_SIZE, script.as_bytes()].concat()
}

/// The entry of the notifications that a script may send of a merchant under a key.
pub(in crate::store) fn at_most_key(merchant: &Key, script: &str, key: &str) -> Vec<u8> {
    of(HOOKS_AT_MOST, merchant, script, key)
}

/// The entry of a script that the state knows.
pub(in crate::store) fn roster_key(script: &str) -> Vec<u8> {
    [ROSTER, script.as_bytes()].concat()
}

/// Where the entries of all scripts of a merchant begin that are ahead of another one.
pub(in crate::store) fn cursors_of(merchant: &Key) -> Vec<u8> {
    [HOOK_CURSORS, merchant.to_string().as_bytes(), b"\0"].concat()
}

/// The entry of how far a script has come.
pub(in crate::store) fn cursor_key(merchant: &Key, script: &str) -> Vec<u8> {
    [cursors_of(merchant).as_slice(), script.as_bytes()].concat()
}

/// The entry of an action's chain of causes.
pub(in crate::store) fn depth_key(action: &Key) -> Vec<u8> {
    [HOOK_DEPTHS, action.to_string().as_bytes()].concat()
}

/// The entry of an action that a state that is lost may have had done.
pub(in crate::store) fn doubt_key(action: &Key) -> Vec<u8> {
    [HOOKS_DOUBTED, action.to_string().as_bytes()].concat()
}

/// The entry of the number behind which a merchant's events are surely new.
pub(in crate::store) fn sure_key(merchant: &Key) -> Vec<u8> {
    [HOOKS_SURE, merchant.to_string().as_bytes()].concat()
}
