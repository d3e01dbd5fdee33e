//! Typed reads of the fold. This module alone knows the keys of the index.

mod adoption;
mod again;
mod epoch;
mod events;
mod failed;
mod hooks;
mod old_actions;
mod retained;
mod rotation;
mod trail;

use std::{collections::BTreeSet, sync::Arc};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key, PublicKey};
use crate::model::intent::OpenIntent;
use crate::model::observed::Observed;
use crate::model::record::Binding;
use crate::model::{saved::PlanUse, suspension::Suspension};
use crate::store::index::{Batch, Entry, Index, IndexError};

pub(super) use adoption::{disowned_key, stray_key};
pub use again::Decoded;
pub(super) use epoch::{looked_key, released_key};
pub(super) use events::{
    EVENT_LEDGERS, EVENTS, NOTICES_IGNORED, event_key, forged_key, garbled_key, ledger_key,
    newest_page_key, number_key, numbers_of, object_key, stranger_key, waiting_key,
};
pub(super) use failed::{
    HOOKS_FAILED, failed_count, failed_count_key, failed_key, failed_of, retry_key,
};
pub(super) use hooks::{
    HOOK_CURSORS, HOOKS_KEPT, HOOKS_SURE, ROSTER, UNDONE, WISHES, at_most_key, cursor_key,
    cursors_of, depth_key, doubt_key, granted_key, kept_key, kept_of, kept_size_key, roster_key,
    schedule_key, sure_key, telling_key, to_run_key, undone_key, wish_key,
};
pub(super) use old_actions::{Age, age, pending_actions};
pub(super) use retained::Keeping;
pub(super) use rotation::rotation_key;
pub use trail::Promise;
pub(super) use trail::{Page, page_key, promise_key, remote_key, trail_key};

/// The version of the fold: an index of another version is rebuilt.
pub const FOLD_VERSION: u32 = 12;

pub(super) const OBSERVED: &[u8] = b"o/";
pub(super) const INTENTS: &[u8] = b"i/";
pub(super) const OPEN_BY_KEY: &[u8] = b"k/";
pub(super) const MARKS: &[u8] = b"m/";
pub(super) const INBOX: &[u8] = b"n/";
pub(super) const ORPHANS: &[u8] = b"r/";
pub(super) const PUBLIC_KEYS: &[u8] = b"p/";
pub(super) const COUNTED: &[u8] = b"s/";
pub(super) const USUAL: &[u8] = b"u/";
pub(super) const PLAN_APPROVALS: &[u8] = b"a/";
pub(super) const PLANS: &[u8] = b"y/";
pub(super) const SUSPENDED: &[u8] = b"z/";
pub(super) const DISOWNED: &[u8] = b"d/";
pub(super) const STRAYS: &[u8] = b"h/";
pub(super) const BINDING: &[u8] = b"f/binding";
pub(super) const NEXT_INTENT: &[u8] = b"f/next-intent";
pub(super) const EMPTY_REMOTE: &[u8] = b"f/empty-remote";
pub(super) const EPOCH: &[u8] = b"f/epoch";
pub(super) const RELEASED: &[u8] = b"e/r/";
pub(super) const LOOKED: &[u8] = b"e/l/";
pub(super) const TRAILS: &[u8] = b"t/";
pub(super) const PAGES: &[u8] = b"g/";
pub(super) const PROMISES: &[u8] = b"q/";
pub(super) const REMOTE: &[u8] = b"j/";
/// Prefix of all entries of events.
const EVERY_EVENT: &[u8] = b"v/";
/// Prefix of all entries of hooks.
const EVERY_HOOK: &[u8] = b"w/";
/// The index's own progress mark; no part of the state.
pub(super) const APPLIED: &[u8] = b"x/applied";

/// Error of a read of the index.
#[derive(Debug, thiserror::Error)]
pub enum FactError {
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A value written by the fold cannot be decoded: the index is damaged or of another version.
    #[error("read the entry {key} of the index: {detail}")]
    Unreadable {
        key: String,
        /// The decoder's message.
        detail: String,
    },
}

/// Progress of the fold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct AppliedMark {
    pub version: u32,
    /// The last journal record that was folded.
    pub sequence: u64,
    /// The hash of the last folded record.
    pub hash: [u8; 32],
}

/// A contact that may exist twice: its first creation could not be proved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct PossibleOrphan {
    /// The intent whose outcome is unknown.
    pub intent: IntentId,
    /// The resource that was created again.
    pub key: Key,
}

/// Typed reads over an index.
#[derive(Debug, Clone)]
pub struct Facts {
    index: Arc<dyn Index>,
}

impl Facts {
    pub fn new(index: Arc<dyn Index>) -> Self {
        Self { index }
    }

    /// Returns the observed state of a resource.
    pub fn observed(&self, key: &Key) -> Result<Option<Observed>, FactError> {
        read(&*self.index, &Batch::new(), &observed_key(key))
    }

    /// Visits every observed resource, in the order of keys.
    ///
    /// # Errors
    /// A read failed, or `take` returned an error.
    pub fn each_observed(
        &self,
        mut take: impl FnMut(Key, Observed) -> Result<(), FactError>,
    ) -> Result<(), FactError> {
        for (key, value) in self.index.scan(OBSERVED)? {
            let of = parse_key(key.get(OBSERVED.len()..).unwrap_or_default())?;
            take(of, decode(&key, &value)?)?;
        }
        Ok(())
    }

    /// Returns the open intent of a resource.
    pub fn open(&self, key: &Key) -> Result<Option<OpenIntent>, FactError> {
        let id: Option<IntentId> = read(&*self.index, &Batch::new(), &open_key(key))?;
        id.map_or(Ok(None), |id| read(&*self.index, &Batch::new(), &intent_key(id)))
    }

    /// Returns every open intent, oldest first.
    pub fn open_intents(&self) -> Result<Vec<OpenIntent>, FactError> {
        self.list(INTENTS)
    }

    /// Returns the contacts that may exist twice.
    pub fn possible_orphans(&self) -> Result<Vec<PossibleOrphan>, FactError> {
        self.list(ORPHANS)
    }

    /// Returns true if the journal knows a mark.
    pub fn knows_mark(&self, mark: &str) -> Result<bool, FactError> {
        Ok(self.index.get(&mark_key(mark))?.is_some())
    }

    /// Returns the resource that carries a mark, by its present name.
    pub fn marked(&self, mark: &str) -> Result<Option<Key>, FactError> {
        let first: Option<Key> = read(&*self.index, &Batch::new(), &mark_key(mark))?;
        first.map(|key| self.current(&key)).transpose()
    }

    /// Returns the present name of a resource, following its moves.
    fn current(&self, first: &Key) -> Result<Key, FactError> {
        let mut key = first.clone();
        while let Some(next) = self.observed(&key)?.and_then(|known| known.moved_to) {
            if *next == *first {
                break;
            }
            key = *next;
        }
        Ok(key)
    }

    /// Returns true if a webhook of the partner interface was stored before.
    pub fn knows_notice(&self, id: &Digest) -> Result<bool, FactError> {
        Ok(self.index.get(&inbox_key(id))?.is_some())
    }

    /// Returns true if an operator declared that remote objects with unknown marks are not ours.
    pub fn empty_remote_declared(&self) -> Result<bool, FactError> {
        Ok(self.index.get(EMPTY_REMOTE)?.is_some())
    }

    /// Returns the use of the saved plan with this token, if it was used.
    pub fn plan_used(&self, token: &str) -> Result<Option<PlanUse>, FactError> {
        read(&*self.index, &Batch::new(), &plan_key(token))
    }

    /// Returns the latest suspension of a resource, expired or not.
    pub fn suspension(&self, key: &Key) -> Result<Option<Suspension>, FactError> {
        read(&*self.index, &Batch::new(), &suspended_key(key))
    }

    /// Returns the suspensions of all resources.
    pub fn suspensions(&self) -> Result<Vec<Suspension>, FactError> {
        self.list(SUSPENDED)
    }

    /// Returns the owner of this state.
    pub fn binding(&self) -> Result<Option<Binding>, FactError> {
        read(&*self.index, &Batch::new(), BINDING)
    }

    /// Returns the number of the next intent.
    pub fn next_intent(&self) -> Result<IntentId, FactError> {
        let next = read(&*self.index, &Batch::new(), NEXT_INTENT)?;
        Ok(next.unwrap_or_else(|| IntentId::new(1)))
    }

    /// Returns the progress of the fold in an index.
    pub fn applied_of(index: &dyn Index) -> Result<Option<AppliedMark>, FactError> {
        read(index, &Batch::new(), APPLIED)
    }

    /// Returns SHA-256 over the sorted entries of the fold. Two states with the same digest are
    /// equal.
    pub fn digest(&self) -> Result<Digest, FactError> {
        let mut all = Vec::new();
        for (key, value) in entries(&*self.index)? {
            for part in [key, value] {
                all.extend(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
                all.extend(part);
            }
        }
        Ok(crate::base::hash::sha256(&all))
    }

    /// Reads one entry.
    pub(super) fn entry<T: DeserializeOwned>(&self, key: &[u8]) -> Result<Option<T>, FactError> {
        read(&*self.index, &Batch::new(), key)
    }

    /// Reads every entry beneath a prefix.
    pub(super) fn list<T: DeserializeOwned>(&self, prefix: &[u8]) -> Result<Vec<T>, FactError> {
        let entries = self.index.scan(prefix)?;
        entries.iter().map(|(key, value)| decode(key, value)).collect()
    }
}

/// Returns every entry that is part of the state, grouped by prefix and then by key.
pub(super) fn entries(index: &dyn Index) -> Result<Vec<Entry>, FactError> {
    let mut all = Vec::new();
    for prefix in [
        BINDING,
        EMPTY_REMOTE,
        EPOCH,
        LOOKED,
        RELEASED,
        NEXT_INTENT,
        INTENTS,
        OPEN_BY_KEY,
        INBOX,
        MARKS,
        OBSERVED,
        ORPHANS,
        PUBLIC_KEYS,
        PAGES,
        PROMISES,
        REMOTE,
        TRAILS,
        COUNTED,
        USUAL,
        PLAN_APPROVALS,
        PLANS,
        SUSPENDED,
        DISOWNED,
        STRAYS,
        EVERY_EVENT,
        EVERY_HOOK,
    ] {
        all.extend(index.scan(prefix)?);
    }
    Ok(all)
}

pub(super) fn observed_key(key: &Key) -> Vec<u8> {
    [OBSERVED, key.to_string().as_bytes()].concat()
}

/// Key of the entry that names a resource's open intent.
pub(super) fn open_key(key: &Key) -> Vec<u8> {
    [OPEN_BY_KEY, key.to_string().as_bytes()].concat()
}

/// Key of the entry of an open intent.
pub(super) fn intent_key(id: IntentId) -> Vec<u8> {
    [INTENTS, &id.get().to_be_bytes()].concat()
}

/// Key of the entry of a mark that this state issued.
pub(super) fn mark_key(mark: &str) -> Vec<u8> {
    [MARKS, mark.as_bytes()].concat()
}

/// Key of the entry of a stored webhook of the partner interface.
pub(super) fn inbox_key(id: &Digest) -> Vec<u8> {
    [INBOX, id.as_bytes()].concat()
}

pub(super) fn orphan_key(id: IntentId) -> Vec<u8> {
    [ORPHANS, &id.get().to_be_bytes()].concat()
}

/// Key of the entry that names the owner of a public key.
pub(super) fn public_key_key(key: &PublicKey) -> Vec<u8> {
    [PUBLIC_KEYS, key.as_str().as_bytes()].concat()
}

/// Key of the entry of a saved plan that was used.
pub(super) fn plan_key(token: &str) -> Vec<u8> {
    [PLANS, token.as_bytes()].concat()
}

pub(super) fn suspended_key(key: &Key) -> Vec<u8> {
    [SUSPENDED, key.to_string().as_bytes()].concat()
}

/// Parses the resource key that follows an entry's prefix.
pub(super) fn parse_key(text: &[u8]) -> Result<Key, FactError> {
    let unreadable = |detail: String| FactError::Unreadable {
        key: String::from_utf8_lossy(text).into_owned(),
        detail,
    };
    let text = std::str::from_utf8(text).map_err(|error| unreadable(error.to_string()))?;
    text.parse().map_err(|error| unreadable(format!("{error}")))
}

/// Returns the resources that a batch changes: their observed state, their suspension, or the
/// records about them or their intents.
pub(super) fn resources(batch: &Batch) -> Result<BTreeSet<Key>, FactError> {
    let mut names = BTreeSet::new();
    for prefix in [OBSERVED, TRAILS, SUSPENDED] {
        let changed = batch.under(prefix).map(|(key, _)| key.get(prefix.len()..));
        names.extend(changed.map(Option::unwrap_or_default));
    }
    names.into_iter().map(parse_key).collect()
}

/// Reads one entry, preferring the pending writes of the batch.
pub(super) fn read<T: DeserializeOwned>(
    index: &dyn Index,
    batch: &Batch,
    key: &[u8],
) -> Result<Option<T>, FactError> {
    let value = batch.get(index, key)?;
    value.map(|value| decode(key, &value)).transpose()
}

pub(super) fn write<T: Serialize>(
    batch: &mut Batch,
    key: &[u8],
    value: &T,
) -> Result<(), FactError> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).map_err(|error| FactError::Unreadable {
        key: String::from_utf8_lossy(key).into_owned(),
        detail: error.to_string(),
    })?;
    batch.put(key, bytes);
    Ok(())
}

/// Decodes one entry, for the fold.
pub(super) fn decode_entry<T: DeserializeOwned>(key: &[u8], value: &[u8]) -> Result<T, FactError> {
    decode(key, value)
}

fn decode<T: DeserializeOwned>(key: &[u8], value: &[u8]) -> Result<T, FactError> {
    ciborium::from_reader(value).map_err(|error| FactError::Unreadable {
        key: String::from_utf8_lossy(key).into_owned(),
        detail: error.to_string(),
    })
}

#[cfg(test)]
mod tests;
