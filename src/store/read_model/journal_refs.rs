//! Reads of the journal positions of records.

use serde::{Deserialize, Serialize};

use super::model::{
    INTENT_POSITIONS, OBSERVED, REMOTE, ReadModel, ReadModelError, SEQUENCE_PAGES, SEQUENCES,
    decode, parse_key, read,
};
use crate::base::id::{IntentId, Key};
use crate::model::state::observed::Observed;
use crate::store::index::ordered::Batch;

/// Journal position of an intent, and its resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntentPosition {
    /// The sequence of the intent's record.
    pub sequence: u64,
    pub key: Key,
}

/// The newest sequences of a resource's records, and the number of full pages before them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct SequencePage {
    pub(in crate::store) full: u32,
    /// Sequences, ascending.
    pub(in crate::store) sequences: Vec<u64>,
}

impl ReadModel {
    /// Returns the journal position of an intent, settled or not.
    pub fn intent_position(
        &self,
        intent: IntentId,
    ) -> Result<Option<IntentPosition>, ReadModelError> {
        read(&*self.index, &Batch::new(), &intent_position_key(intent))
    }

    /// Returns the resources that an id of the service belongs to, each with the first record that
    /// names the id. A resource that was renamed is listed under both names.
    pub fn resources_of_id(&self, id: &str) -> Result<Vec<(Key, u64)>, ReadModelError> {
        let prefix = remote_prefix(id);
        // An id is any text, so a longer id may begin with this one and a zero byte. No key holds
        // such a byte.
        let own = |key: &[u8]| key.get(prefix.len()..).is_some_and(|rest| !rest.contains(&0));
        let entries = self.index.scan(&prefix)?.into_iter().filter(|(key, _)| own(key));
        let one = |(key, value): (Vec<u8>, Vec<u8>)| {
            Ok((parse_key(key.get(prefix.len()..).unwrap_or_default())?, decode(&key, &value)?))
        };
        let mut all = entries.map(one).collect::<Result<Vec<(Key, u64)>, ReadModelError>>()?;
        for (key, sequence) in all.clone() {
            let now = self.current_name(&key)?;
            if !all.iter().any(|(one, _)| *one == now) {
                all.push((now, sequence));
            }
        }
        Ok(all)
    }

    /// Returns the names of a resource: the former ones, and last the present one.
    pub fn names(&self, key: &Key) -> Result<Vec<Key>, ReadModelError> {
        let now = self.current_name(key)?;
        let mut names = self.observed_state(&now)?.map(|known| known.former).unwrap_or_default();
        names.retain(|name| *name != now);
        names.push(now);
        Ok(names)
    }

    /// Returns the observed state of every resource of a kind.
    pub fn observed_of(&self, kind: &str) -> Result<Vec<(Key, Observed)>, ReadModelError> {
        let prefix = [OBSERVED, kind.as_bytes(), b"/"].concat();
        let entries = self.index.scan(&prefix)?.into_iter();
        let one = |(key, value): (Vec<u8>, Vec<u8>)| {
            Ok((parse_key(key.get(OBSERVED.len()..).unwrap_or_default())?, decode(&key, &value)?))
        };
        entries.map(one).collect()
    }

    /// Returns the sequences of all records about a resource, ascending.
    pub fn record_sequences(&self, key: &Key) -> Result<Vec<u64>, ReadModelError> {
        let newest: Option<SequencePage> = read(&*self.index, &Batch::new(), &sequences_key(key))?;
        let Some(newest) = newest else { return Ok(Vec::new()) };
        let mut sequences = Vec::new();
        for number in 0..newest.full {
            let page: Option<Vec<u64>> = read(&*self.index, &Batch::new(), &page_key(key, number))?;
            sequences.extend(page.unwrap_or_default());
        }
        sequences.extend(newest.sequences);
        Ok(sequences)
    }
}

/// Key of the entry with an intent's journal position.
pub(in crate::store) fn intent_position_key(intent: IntentId) -> Vec<u8> {
    [INTENT_POSITIONS, &intent.get().to_be_bytes()].concat()
}

/// Key of the entry that joins an id of the service and a resource.
pub(in crate::store) fn remote_key(id: &str, key: &Key) -> Vec<u8> {
    [remote_prefix(id).as_slice(), key.to_string().as_bytes()].concat()
}

fn remote_prefix(id: &str) -> Vec<u8> {
    [REMOTE, id.as_bytes(), b"\0"].concat()
}

/// Key of the entry with the newest sequences of a resource.
pub(in crate::store) fn sequences_key(key: &Key) -> Vec<u8> {
    [SEQUENCES, key.to_string().as_bytes()].concat()
}

/// Key of a full page of sequences.
pub(in crate::store) fn page_key(key: &Key, number: u32) -> Vec<u8> {
    [SEQUENCE_PAGES, key.to_string().as_bytes(), b"\0", &number.to_be_bytes()].concat()
}
