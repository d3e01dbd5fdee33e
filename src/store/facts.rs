//! Typed reads of what the fold made: the one place that knows the index's keys.

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

/// The version of the fold: an index made by another one is made again.
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
/// Everything of events.
const EVERY_EVENT: &[u8] = b"v/";
/// Everything of hooks.
const EVERY_HOOK: &[u8] = b"w/";
/// What the index says about itself; no part of the state.
pub(super) const APPLIED: &[u8] = b"x/applied";

/// A read of the index that failed.
#[derive(Debug, thiserror::Error)]
pub enum FactError {
    /// The index itself failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A value that the fold wrote cannot be read: the index is damaged or of another version.
    #[error("read the entry {key} of the index: {detail}")]
    Unreadable {
        /// The entry.
        key: String,
        /// What the decoder said.
        detail: String,
    },
}

/// How far the fold has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct AppliedMark {
    /// The version of the fold.
    pub version: u32,
    /// The last journal record that was folded.
    pub sequence: u64,
    /// That record's hash.
    pub hash: [u8; 32],
}

/// A contact that may exist twice: its first creation could not be proved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct PossibleOrphan {
    /// The intent whose fate is not known.
    pub intent: IntentId,
    /// The resource that was made again.
    pub key: Key,
}

/// Typed reads over an index.
#[derive(Debug, Clone)]
pub struct Facts {
    index: Arc<dyn Index>,
}

impl Facts {
    /// Reads from this index.
    pub fn new(index: Arc<dyn Index>) -> Self {
        Self { index }
    }

    /// What is known of a resource.
    pub fn observed(&self, key: &Key) -> Result<Option<Observed>, FactError> {
        read(&*self.index, &Batch::new(), &observed_key(key))
    }

    /// Gives every resource that something is known of, one after the other, by key. Errors: a read
    /// that failed, or the first error of `take`.
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

    /// The intent of a resource that is not closed.
    pub fn open(&self, key: &Key) -> Result<Option<OpenIntent>, FactError> {
        let id: Option<IntentId> = read(&*self.index, &Batch::new(), &open_key(key))?;
        id.map_or(Ok(None), |id| read(&*self.index, &Batch::new(), &intent_key(id)))
    }

    /// Every intent that is not closed, oldest first.
    pub fn open_intents(&self) -> Result<Vec<OpenIntent>, FactError> {
        self.list(INTENTS)
    }

    /// Contacts that may exist twice.
    pub fn possible_orphans(&self) -> Result<Vec<PossibleOrphan>, FactError> {
        self.list(ORPHANS)
    }

    /// Whether the journal knows a mark.
    pub fn knows_mark(&self, mark: &str) -> Result<bool, FactError> {
        Ok(self.index.get(&mark_key(mark))?.is_some())
    }

    /// The resource that a mark was given to.
    pub fn marked(&self, mark: &str) -> Result<Option<Key>, FactError> {
        let first: Option<Key> = read(&*self.index, &Batch::new(), &mark_key(mark))?;
        first.map(|key| self.current(&key)).transpose()
    }

    /// The name that a resource has by now.
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

    /// Whether a notification was stored before.
    pub fn knows_notice(&self, id: &Digest) -> Result<bool, FactError> {
        Ok(self.index.get(&inbox_key(id))?.is_some())
    }

    /// Whether an operator said that remote objects with unknown marks are not ours.
    pub fn empty_remote_declared(&self) -> Result<bool, FactError> {
        Ok(self.index.get(EMPTY_REMOTE)?.is_some())
    }

    /// The use of the saved plan with this token, if it was used.
    pub fn plan_used(&self, token: &str) -> Result<Option<PlanUse>, FactError> {
        read(&*self.index, &Batch::new(), &plan_key(token))
    }

    /// What a person said of this resource's suspension last, over or not.
    pub fn suspension(&self, key: &Key) -> Result<Option<Suspension>, FactError> {
        read(&*self.index, &Batch::new(), &suspended_key(key))
    }

    /// The same of every resource.
    pub fn suspensions(&self) -> Result<Vec<Suspension>, FactError> {
        self.list(SUSPENDED)
    }

    /// Whose state this is.
    pub fn binding(&self) -> Result<Option<Binding>, FactError> {
        read(&*self.index, &Batch::new(), BINDING)
    }

    /// The number of the next intent.
    pub fn next_intent(&self) -> Result<IntentId, FactError> {
        let next = read(&*self.index, &Batch::new(), NEXT_INTENT)?;
        Ok(next.unwrap_or_else(|| IntentId::new(1)))
    }

    /// How far the fold of an index has come.
    pub fn applied_of(index: &dyn Index) -> Result<Option<AppliedMark>, FactError> {
        read(index, &Batch::new(), APPLIED)
    }

    /// SHA-256 over the sorted entries of the fold: two states with one digest know the same.
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

    /// One entry.
    pub(super) fn entry<T: DeserializeOwned>(&self, key: &[u8]) -> Result<Option<T>, FactError> {
        read(&*self.index, &Batch::new(), key)
    }

    /// Every entry beneath a prefix.
    pub(super) fn list<T: DeserializeOwned>(&self, prefix: &[u8]) -> Result<Vec<T>, FactError> {
        let entries = self.index.scan(prefix)?;
        entries.iter().map(|(key, value)| decode(key, value)).collect()
    }
}

/// Every entry that is part of the state, by what it is about and then by key.
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

/// The entry of a resource.
pub(super) fn observed_key(key: &Key) -> Vec<u8> {
    [OBSERVED, key.to_string().as_bytes()].concat()
}

/// The entry that names a resource's open intent.
pub(super) fn open_key(key: &Key) -> Vec<u8> {
    [OPEN_BY_KEY, key.to_string().as_bytes()].concat()
}

/// The entry of an intent that is not closed.
pub(super) fn intent_key(id: IntentId) -> Vec<u8> {
    [INTENTS, &id.get().to_be_bytes()].concat()
}

/// The entry of a mark that we gave out.
pub(super) fn mark_key(mark: &str) -> Vec<u8> {
    [MARKS, mark.as_bytes()].concat()
}

/// The entry of a stored notification.
pub(super) fn inbox_key(id: &Digest) -> Vec<u8> {
    [INBOX, id.as_bytes()].concat()
}

/// The entry of a possible orphan.
pub(super) fn orphan_key(id: IntentId) -> Vec<u8> {
    [ORPHANS, &id.get().to_be_bytes()].concat()
}

/// The entry of a public key that a merchant is bound to.
pub(super) fn public_key_key(key: &PublicKey) -> Vec<u8> {
    [PUBLIC_KEYS, key.as_str().as_bytes()].concat()
}

/// The entry of a saved plan that was used.
pub(super) fn plan_key(token: &str) -> Vec<u8> {
    [PLANS, token.as_bytes()].concat()
}

/// The entry of a resource that a person suspended.
pub(super) fn suspended_key(key: &Key) -> Vec<u8> {
    [SUSPENDED, key.to_string().as_bytes()].concat()
}

/// The resource that an entry is about.
pub(super) fn parse_key(text: &[u8]) -> Result<Key, FactError> {
    let unreadable = |detail: String| FactError::Unreadable {
        key: String::from_utf8_lossy(text).into_owned(),
        detail,
    };
    let text = std::str::from_utf8(text).map_err(|error| unreadable(error.to_string()))?;
    text.parse().map_err(|error| unreadable(format!("{error}")))
}

/// The resources of which a batch changes what is known: their facts, their suspension, or the records about them,
/// those of their intents among these.
pub(super) fn resources(batch: &Batch) -> Result<BTreeSet<Key>, FactError> {
    let mut names = BTreeSet::new();
    for prefix in [OBSERVED, TRAILS, SUSPENDED] {
        let changed = batch.under(prefix).map(|(key, _)| key.get(prefix.len()..));
        names.extend(changed.map(Option::unwrap_or_default));
    }
    names.into_iter().map(parse_key).collect()
}

/// Reads one entry, what a batch is about to write first.
pub(super) fn read<T: DeserializeOwned>(
    index: &dyn Index,
    batch: &Batch,
    key: &[u8],
) -> Result<Option<T>, FactError> {
    let value = batch.get(index, key)?;
    value.map(|value| decode(key, &value)).transpose()
}

/// Writes one entry.
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

/// Decodes one entry.
fn decode<T: DeserializeOwned>(key: &[u8], value: &[u8]) -> Result<T, FactError> {
    ciborium::from_reader(value).map_err(|error| FactError::Unreadable {
        key: String::from_utf8_lossy(key).into_owned(),
        detail: error.to_string(),
    })
}

#[cfg(test)]
mod tests;
