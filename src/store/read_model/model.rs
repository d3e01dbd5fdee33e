//! Typed reads of the fold. This module alone knows the keys of the index.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key, PublicKey};
use crate::model::intent::OpenIntent;
use crate::model::operator::{PlanUse, Suspension};
use crate::model::record::StateOwner;
use crate::model::state::observed::Observed;
use crate::store::index::ordered::{Batch, Index, IndexError, KeyValue};

/// The version of the fold: an index of another version is rebuilt.
pub const FOLD_VERSION: u32 = 12;

/// Maximum renames followed from one name: a cycle of renames ends there.
const MOVES_MAX: usize = 10_000;

pub(crate) const OBSERVED: &[u8] = b"o/";
pub(crate) const INTENTS: &[u8] = b"i/";
pub(crate) const OPEN_BY_KEY: &[u8] = b"k/";
pub(crate) const MARKS: &[u8] = b"m/";
pub(crate) const PARTNER_WEBHOOKS: &[u8] = b"n/";
pub(crate) const ORPHANS: &[u8] = b"r/";
pub(crate) const PUBLIC_KEYS: &[u8] = b"p/";
pub(crate) const TALLIES: &[u8] = b"s/";
pub(crate) const USUAL_AMOUNTS: &[u8] = b"u/";
pub(crate) const PLAN_APPROVALS: &[u8] = b"a/";
pub(crate) const PLANS: &[u8] = b"y/";
pub(crate) const SUSPENDED: &[u8] = b"z/";
pub(crate) const DISOWNED: &[u8] = b"d/";
pub(crate) const UNKNOWN_OBJECTS: &[u8] = b"h/";
pub(crate) const BINDING: &[u8] = b"f/binding";
pub(crate) const NEXT_INTENT: &[u8] = b"f/next-intent";
pub(crate) const EMPTY_REMOTE: &[u8] = b"f/empty-remote";
pub(crate) const EPOCH: &[u8] = b"f/epoch";
pub(crate) const RELEASED: &[u8] = b"e/r/";
pub(crate) const CONFIRMED_ABSENT: &[u8] = b"e/l/";
pub(crate) const SEQUENCES: &[u8] = b"t/";
pub(crate) const SEQUENCE_PAGES: &[u8] = b"g/";
pub(crate) const INTENT_POSITIONS: &[u8] = b"q/";
pub(crate) const REMOTE: &[u8] = b"j/";
/// Prefix of all entries of events.
const EVERY_EVENT: &[u8] = b"v/";
/// Prefix of all entries of hooks.
const EVERY_HOOK: &[u8] = b"w/";
/// The index's own progress mark; no part of the state.
pub(crate) const PROGRESS: &[u8] = b"x/applied";

/// Error of a read of the index.
#[derive(Debug, thiserror::Error)]
pub enum ReadModelError {
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
pub struct FoldProgress {
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
pub struct ReadModel {
    pub(crate) index: Arc<dyn Index>,
}

impl ReadModel {
    pub fn new(index: Arc<dyn Index>) -> Self {
        Self { index }
    }

    /// Returns the observed state of a resource.
    pub fn observed_state(&self, key: &Key) -> Result<Option<Observed>, ReadModelError> {
        read(&*self.index, &Batch::new(), &observed_key(key))
    }

    /// Visits every observed resource, in the order of keys.
    ///
    /// # Errors
    /// A read failed, or `take` returned an error.
    pub fn each_observed(
        &self,
        mut take: impl FnMut(Key, Observed) -> Result<(), ReadModelError>,
    ) -> Result<(), ReadModelError> {
        for (key, value) in self.index.scan(OBSERVED)? {
            let of = parse_key(key.get(OBSERVED.len()..).unwrap_or_default())?;
            take(of, decode(&key, &value)?)?;
        }
        Ok(())
    }

    /// Returns the open intent of a resource.
    pub fn open_intent(&self, key: &Key) -> Result<Option<OpenIntent>, ReadModelError> {
        let id: Option<IntentId> = read(&*self.index, &Batch::new(), &open_key(key))?;
        id.map_or(Ok(None), |id| read(&*self.index, &Batch::new(), &intent_key(id)))
    }

    /// Returns every open intent, oldest first.
    pub fn open_intents(&self) -> Result<Vec<OpenIntent>, ReadModelError> {
        self.list(INTENTS)
    }

    /// Returns the contacts that may exist twice.
    pub fn possible_orphans(&self) -> Result<Vec<PossibleOrphan>, ReadModelError> {
        self.list(ORPHANS)
    }

    /// Returns true if the journal knows a mark.
    pub fn knows_mark(&self, mark: &str) -> Result<bool, ReadModelError> {
        Ok(self.index.get(&mark_key(mark))?.is_some())
    }

    /// Returns the resource that carries a mark, by its present name.
    pub fn resource_of_mark(&self, mark: &str) -> Result<Option<Key>, ReadModelError> {
        let first: Option<Key> = read(&*self.index, &Batch::new(), &mark_key(mark))?;
        first.map(|key| self.current_name(&key)).transpose()
    }

    /// Returns the present name of a resource, following at most [`MOVES_MAX`] moves.
    pub(crate) fn current_name(&self, first: &Key) -> Result<Key, ReadModelError> {
        let mut key = first.clone();
        for _ in 0..MOVES_MAX {
            let next = self.observed_state(&key)?.and_then(|known| known.moved_to);
            match next.filter(|next| **next != *first) {
                Some(next) => key = *next,
                None => break,
            }
        }
        Ok(key)
    }

    /// Returns true if a webhook of the partner interface was stored before.
    pub fn knows_partner_webhook(&self, id: &Digest) -> Result<bool, ReadModelError> {
        Ok(self.index.get(&partner_webhook_key(id))?.is_some())
    }

    /// Returns true if an operator declared that remote objects with unknown marks are not ours.
    pub fn is_empty_remote(&self) -> Result<bool, ReadModelError> {
        Ok(self.index.get(EMPTY_REMOTE)?.is_some())
    }

    /// Returns the use of the saved plan with this token, if it was used.
    pub fn use_of_plan(&self, token: &str) -> Result<Option<PlanUse>, ReadModelError> {
        read(&*self.index, &Batch::new(), &plan_key(token))
    }

    /// Returns the latest suspension of a resource, expired or not.
    pub fn suspension(&self, key: &Key) -> Result<Option<Suspension>, ReadModelError> {
        read(&*self.index, &Batch::new(), &suspension_key(key))
    }

    /// Returns the suspensions of all resources.
    pub fn suspensions(&self) -> Result<Vec<Suspension>, ReadModelError> {
        self.list(SUSPENDED)
    }

    /// Returns the owner of this state.
    pub fn state_owner(&self) -> Result<Option<StateOwner>, ReadModelError> {
        read(&*self.index, &Batch::new(), BINDING)
    }

    /// Returns the number of the next intent.
    pub fn next_intent(&self) -> Result<IntentId, ReadModelError> {
        let next = read(&*self.index, &Batch::new(), NEXT_INTENT)?;
        Ok(next.unwrap_or_else(|| IntentId::new(1)))
    }

    /// Returns the progress of the fold in an index.
    pub fn progress_of(index: &dyn Index) -> Result<Option<FoldProgress>, ReadModelError> {
        read(index, &Batch::new(), PROGRESS)
    }

    /// Returns SHA-256 over the sorted entries of the fold. Two states with the same digest are
    /// equal.
    pub fn digest(&self) -> Result<Digest, ReadModelError> {
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
    pub(crate) fn entry<T: DeserializeOwned>(
        &self,
        key: &[u8],
    ) -> Result<Option<T>, ReadModelError> {
        read(&*self.index, &Batch::new(), key)
    }

    /// Reads every entry beneath a prefix.
    pub(crate) fn list<T: DeserializeOwned>(
        &self,
        prefix: &[u8],
    ) -> Result<Vec<T>, ReadModelError> {
        let entries = self.index.scan(prefix)?;
        entries.iter().map(|(key, value)| decode(key, value)).collect()
    }
}

/// Returns every entry that is part of the state, grouped by prefix and then by key.
pub(crate) fn entries(index: &dyn Index) -> Result<Vec<KeyValue>, ReadModelError> {
    let mut all = Vec::new();
    for prefix in [
        BINDING,
        EMPTY_REMOTE,
        EPOCH,
        CONFIRMED_ABSENT,
        RELEASED,
        NEXT_INTENT,
        INTENTS,
        OPEN_BY_KEY,
        PARTNER_WEBHOOKS,
        MARKS,
        OBSERVED,
        ORPHANS,
        PUBLIC_KEYS,
        SEQUENCE_PAGES,
        INTENT_POSITIONS,
        REMOTE,
        SEQUENCES,
        TALLIES,
        USUAL_AMOUNTS,
        PLAN_APPROVALS,
        PLANS,
        SUSPENDED,
        DISOWNED,
        UNKNOWN_OBJECTS,
        EVERY_EVENT,
        EVERY_HOOK,
    ] {
        all.extend(index.scan(prefix)?);
    }
    Ok(all)
}

pub(crate) fn observed_key(key: &Key) -> Vec<u8> {
    [OBSERVED, key.to_string().as_bytes()].concat()
}

/// Key of the entry that names a resource's open intent.
pub(crate) fn open_key(key: &Key) -> Vec<u8> {
    [OPEN_BY_KEY, key.to_string().as_bytes()].concat()
}

/// Key of the entry of an open intent.
pub(crate) fn intent_key(id: IntentId) -> Vec<u8> {
    [INTENTS, &id.get().to_be_bytes()].concat()
}

/// Key of the entry of a mark that this state issued.
pub(crate) fn mark_key(mark: &str) -> Vec<u8> {
    [MARKS, mark.as_bytes()].concat()
}

/// Key of the entry of a stored webhook of the partner interface.
pub(crate) fn partner_webhook_key(id: &Digest) -> Vec<u8> {
    [PARTNER_WEBHOOKS, id.as_bytes()].concat()
}

pub(crate) fn orphan_key(id: IntentId) -> Vec<u8> {
    [ORPHANS, &id.get().to_be_bytes()].concat()
}

/// Key of the entry that names the owner of a public key.
pub(crate) fn public_key_key(key: &PublicKey) -> Vec<u8> {
    [PUBLIC_KEYS, key.as_str().as_bytes()].concat()
}

/// Key of the entry of a saved plan that was used.
pub(crate) fn plan_key(token: &str) -> Vec<u8> {
    [PLANS, token.as_bytes()].concat()
}

pub(crate) fn suspension_key(key: &Key) -> Vec<u8> {
    [SUSPENDED, key.to_string().as_bytes()].concat()
}

/// Parses the resource key that follows an entry's prefix.
pub(crate) fn parse_key(text: &[u8]) -> Result<Key, ReadModelError> {
    let unreadable = |detail: String| ReadModelError::Unreadable {
        key: String::from_utf8_lossy(text).into_owned(),
        detail,
    };
    let text = std::str::from_utf8(text).map_err(|error| unreadable(error.to_string()))?;
    text.parse().map_err(|error| unreadable(format!("{error}")))
}

/// Returns the resources that a batch changes: their observed state, their suspension, or the
/// records about them or their intents.
pub(crate) fn changed_resources(batch: &Batch) -> Result<BTreeSet<Key>, ReadModelError> {
    let mut names = BTreeSet::new();
    for prefix in [OBSERVED, SEQUENCES, SUSPENDED] {
        let changed = batch.changes_under(prefix).map(|(key, _)| key.get(prefix.len()..));
        names.extend(changed.map(Option::unwrap_or_default));
    }
    names.into_iter().map(parse_key).collect()
}

/// Reads one entry, preferring the pending writes of the batch.
pub(crate) fn read<T: DeserializeOwned>(
    index: &dyn Index,
    batch: &Batch,
    key: &[u8],
) -> Result<Option<T>, ReadModelError> {
    let value = batch.get(index, key)?;
    value.map(|value| decode(key, &value)).transpose()
}

pub(crate) fn write<T: Serialize>(
    batch: &mut Batch,
    key: &[u8],
    value: &T,
) -> Result<(), ReadModelError> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).map_err(|error| ReadModelError::Unreadable {
        key: String::from_utf8_lossy(key).into_owned(),
        detail: error.to_string(),
    })?;
    batch.put(key, bytes);
    Ok(())
}

/// Decodes one entry, for the fold.
pub(crate) fn decode_entry<T: DeserializeOwned>(
    key: &[u8],
    value: &[u8],
) -> Result<T, ReadModelError> {
    decode(key, value)
}

pub(crate) fn decode<T: DeserializeOwned>(key: &[u8], value: &[u8]) -> Result<T, ReadModelError> {
    ciborium::from_reader(value).map_err(|error| ReadModelError::Unreadable {
        key: String::from_utf8_lossy(key).into_owned(),
        detail: error.to_string(),
    })
}
