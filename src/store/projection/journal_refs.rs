//! Folds the journal positions of all records about a resource, which `why` reads.
//!
//! A resource has one entry with the sequences of its records, newest last. A full page is moved to
//! an entry of its own number, so that no entry grows without bound.

use serde_json::Value;

use crate::base::id::{IntentId, Key, RemoteId};
use crate::model::record::Record;
use crate::model::state::observed::Observation;
use crate::store::index::ordered::{Batch, Index};
use crate::store::read_model::journal_refs::{
    IntentPosition, SequencePage, intent_position_key, page_key, remote_key, sequences_key,
};
use crate::store::read_model::model::{ReadModelError, read, write};

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
        append(index, batch, &key, sequence)?;
    }
    if let Some(fact) = record.observation() {
        note_ids(index, batch, fact, sequence)?;
    }
    record.subjects().into_iter().try_for_each(|key| append(index, batch, key, sequence))
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
fn append(
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
