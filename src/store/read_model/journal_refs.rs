//! Journal positions of all records about a resource, which `why` reads: their entries, their fold,
//! and their reads.
//!
//! A resource has one entry with the sequences of its records, newest last. A full page is moved to
//! an entry of its own number, so that no entry grows without bound.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::id::{IntentId, Key, RemoteId};
use crate::model::record::Record;
use crate::model::state::observed::{Observation, Observed};
use crate::store::index::ordered::{Batch, Index};
use crate::store::read_model::model::{
    INTENT_POSITIONS, OBSERVED, REMOTE, ReadModel, ReadModelError, SEQUENCE_PAGES, SEQUENCES,
    decode, parse_key, read, write,
};

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

/// Sequences on one page: an entry stays below 4 KB.
const PAGE_MAX: usize = 400;

/// Facts that hold the id of another object of the service, such as the payment that a recurring
/// charge began with.
const IDS: [&str; 7] = [
    "first_charge",
    "transaction",
    "transaction_id",
    "charge_id",
    "refund_id",
    "credit_id",
    "file_id",
];

/// Notes the position of a record.
pub(crate) fn note_position(
    index: &dyn Index,
    batch: &mut Batch,
    sequence: u64,
    record: &Record,
) -> Result<(), ReadModelError> {
    if let Record::Intent(intent) = record {
        let position = IntentPosition { sequence, key: intent.key.clone() };
        write(batch, &intent_position_key(intent.id), &position)?;
    }
    if let Record::Progress { intent, .. } | Record::Resolved { intent, .. } = record {
        let Some(key) = resource_of(index, batch, *intent)? else { return Ok(()) };
        append_sequence(index, batch, &key, sequence)?;
    }
    if let Some(fact) = record.observation() {
        note_ids(index, batch, fact, sequence)?;
    }
    record.subjects().into_iter().try_for_each(|key| append_sequence(index, batch, key, sequence))
}

/// Returns the resource of an intent.
fn resource_of(
    index: &dyn Index,
    batch: &Batch,
    intent: IntentId,
) -> Result<Option<Key>, ReadModelError> {
    let promise: Option<IntentPosition> = read(index, batch, &intent_position_key(intent))?;
    Ok(promise.map(|promise| promise.key))
}

/// Returns the service's ids that belong to a resource: its own, and those in its facts.
pub(crate) fn ids_of(remote_id: Option<&RemoteId>, facts: &Value) -> impl Iterator<Item = String> {
    let own = remote_id.map(|id| id.as_str().to_owned());
    let others = IDS.iter().filter_map(|name| facts.get(name)?.as_str()).map(str::to_owned);
    own.into_iter().chain(others)
}

/// Notes the resource that an id of the service belongs to, and the first record that names the id.
fn note_ids(
    index: &dyn Index,
    batch: &mut Batch,
    fact: &Observation,
    sequence: u64,
) -> Result<(), ReadModelError> {
    for id in ids_of(fact.remote_id.as_ref(), &fact.facts) {
        let entry = remote_key(&id, &fact.key);
        if read::<u64>(index, batch, &entry)?.is_none() {
            write(batch, &entry, &sequence)?;
        }
    }
    Ok(())
}

/// Appends a sequence to a resource's records.
fn append_sequence(
    index: &dyn Index,
    batch: &mut Batch,
    key: &Key,
    sequence: u64,
) -> Result<(), ReadModelError> {
    let entry = sequences_key(key);
    let mut page: SequencePage = read(index, batch, &entry)?.unwrap_or_default();
    if page.sequences.len() >= PAGE_MAX {
        let full = std::mem::take(&mut page.sequences);
        write(batch, &page_key(key, page.full), &full)?;
        page.full = page.full.saturating_add(1);
    }
    page.sequences.push(sequence);
    write(batch, &entry, &page)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::id::Mode;
    use crate::model::state::observed::FactSource;
    use crate::store::index::ordered::MemoryIndex;
    use crate::store::read_model::model::ReadModel;
    use crate::store::tests::support::old_intent;

    fn noted(records: &[Record]) -> ReadModel {
        let index = Arc::new(MemoryIndex::new());
        let mut batch = Batch::new();
        for (sequence, record) in (1..).zip(records) {
            note_position(&*index, &mut batch, sequence, record).unwrap();
        }
        index.apply(batch).unwrap();
        ReadModel::new(index)
    }

    fn made(name: &str, id: &str) -> Record {
        Record::Observation(Box::new(Observation {
            key: name.parse().unwrap(),
            merchant: "Merchant/acme".parse().unwrap(),
            at: chrono::DateTime::UNIX_EPOCH,
            source: FactSource::Answer,
            remote_id: Some(RemoteId::new(id).unwrap()),
            exists: Some(true),
            applied: None,
            facts: serde_json::json!({}),
        }))
    }

    #[test]
    fn an_intent_is_found_where_it_was_written_down() {
        let intent = old_intent(7, "a", "acme", Mode::Test);
        let facts = noted(&[made("Contact/b", "1"), Record::Intent(Box::new(intent.clone()))]);
        let expect = IntentPosition { sequence: 2, key: intent.key };
        assert_eq!(facts.intent_position(IntentId::new(7)).unwrap(), Some(expect));
        assert_eq!(facts.intent_position(IntentId::new(8)).unwrap(), None);
    }

    #[test]
    fn an_id_leads_to_its_own_resources_and_the_record_that_said_so_first() {
        let records = [
            made("Contact/a", "p_1"),
            made("Contact/b", "p_12"),
            made("Contact/c", "p_1"),
            made("Contact/a", "p_1"),
        ];
        let facts = noted(&records);
        let owners = |id: &str| -> Vec<(String, u64)> {
            let found = facts.resources_of_id(id).unwrap().into_iter();
            found.map(|(key, sequence)| (key.short(), sequence)).collect()
        };
        assert_eq!(owners("p_1"), [("Contact/a".to_owned(), 1), ("Contact/c".to_owned(), 3)]);
        assert_eq!(owners("p_12"), [("Contact/b".to_owned(), 2)]);
        assert!(owners("p_").is_empty());
    }
}
