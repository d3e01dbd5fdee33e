//! Folds the journal positions of all records about a resource, which `why` reads.
//!
//! A resource has one entry with the sequences of its records, newest last. A full page is moved to
//! an entry of its own number, so that no entry grows without bound.

use serde_json::Value;

use crate::base::id::{IntentId, Key, RemoteId};
use crate::model::intent::Progress;
use crate::model::observed::Observation;
use crate::model::record::Record;
use crate::store::facts::{
    FactError, Page, Promise, page_key, promise_key, read, remote_key, trail_key, write,
};
use crate::store::index::{Batch, Index};

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
pub(super) fn note(
    index: &dyn Index,
    batch: &mut Batch,
    sequence: u64,
    record: &Record,
) -> Result<(), FactError> {
    match record {
        Record::Intent(intent) => {
            let promise = Promise { sequence, key: intent.key.clone() };
            write(batch, &promise_key(intent.id), &promise)?;
            append(index, batch, &intent.key, sequence)
        }
        Record::Progress { intent, at: _, progress } => {
            let Some(key) = owner(index, batch, *intent)? else { return Ok(()) };
            if let Some(taught) = taught(progress) {
                ids(index, batch, taught, sequence)?;
            }
            append(index, batch, &key, sequence)
        }
        Record::Observation(fact) => {
            ids(index, batch, fact, sequence)?;
            append(index, batch, &fact.key, sequence)
        }
        Record::Hold { key, .. } | Record::Resumed { key, .. } => {
            append(index, batch, key, sequence)
        }
        Record::Approval(one) => append(index, batch, &one.binding.merchant, sequence),
        Record::Released(release) => all(index, batch, &release.keys, sequence),
        Record::Resolved { intent, at: _, actor: _, said: _ } => {
            let Some(key) = owner(index, batch, *intent)? else { return Ok(()) };
            append(index, batch, &key, sequence)
        }
        Record::PlanApproval(approval) => {
            approval.steps.iter().try_for_each(|step| append(index, batch, &step.key, sequence))
        }
        Record::Unauthorised(refused) => append(index, batch, &refused.merchant, sequence),
        Record::Suspended(suspension) => append(index, batch, &suspension.key, sequence),
        Record::Absence(absence) => append(index, batch, &absence.key, sequence),
        Record::Moved(moved) => {
            append(index, batch, &moved.from, sequence)?;
            append(index, batch, &moved.to, sequence)
        }
        Record::Adopted(adoption) => {
            ids(index, batch, &adoption.fact, sequence)?;
            append(index, batch, &adoption.fact.key, sequence)
        }
        Record::Forgotten(forgotten) => append(index, batch, &forgotten.key, sequence),
        Record::Disowned(disowned) => append(index, batch, &disowned.key, sequence),
        Record::Strays(strays) => append(index, batch, &strays.key, sequence),
        Record::Told(told) => all(index, batch, &told.about, sequence),
        Record::Attached(one) => append(index, batch, &one.key, sequence),
        Record::OrphanSeen(seen) => append(index, batch, &seen.key, sequence),
        Record::Bound(_)
        | Record::Inbox(_)
        | Record::Posted(_)
        | Record::Forged(_)
        | Record::Polled(_)
        | Record::Ran(_)
        | Record::Passed(_)
        | Record::Granted(_)
        | Record::Telling(_)
        | Record::Replayed(_)
        | Record::Rotated(_)
        | Record::Rekeyed(_)
        | Record::Retained(_)
        | Record::Lapsed(_)
        | Record::Dismissed(_)
        | Record::Loaded(_)
        | Record::ScriptForgotten(_)
        | Record::EmptyRemote { .. }
        | Record::PlanUsed(_)
        | Record::Compacted(_)
        | Record::Restored(_) => Ok(()),
    }
}

/// Notes a record for each of these resources.
fn all<'k>(
    index: &dyn Index,
    batch: &mut Batch,
    keys: impl IntoIterator<Item = &'k Key>,
    sequence: u64,
) -> Result<(), FactError> {
    keys.into_iter().try_for_each(|key| append(index, batch, key, sequence))
}

/// Returns the resource of an intent.
fn owner(index: &dyn Index, batch: &Batch, intent: IntentId) -> Result<Option<Key>, FactError> {
    let promise: Option<Promise> = read(index, batch, &promise_key(intent))?;
    Ok(promise.map(|promise| promise.key))
}

/// Returns the observation that a progress contains.
fn taught(progress: &Progress) -> Option<&Observation> {
    match progress {
        Progress::Done { observation, proof: _ } => Some(observation),
        Progress::Held { reason: _, observation } => observation.as_deref(),
        Progress::Again
        | Progress::Doubt { .. }
        | Progress::NotSent { .. }
        | Progress::Refused { .. }
        | Progress::GivenUp { .. } => None,
    }
}

/// Returns the service's ids that belong to a resource: its own, and those in its facts.
pub(super) fn ids_of(remote_id: Option<&RemoteId>, facts: &Value) -> impl Iterator<Item = String> {
    let own = remote_id.map(|id| id.as_str().to_owned());
    let others = IDS.iter().filter_map(|name| facts.get(name)?.as_str()).map(str::to_owned);
    own.into_iter().chain(others)
}

/// Notes the resource that an id of the service belongs to, and the first record that names the id.
fn ids(
    index: &dyn Index,
    batch: &mut Batch,
    fact: &Observation,
    sequence: u64,
) -> Result<(), FactError> {
    for id in ids_of(fact.remote_id.as_ref(), &fact.facts) {
        let entry = remote_key(&id, &fact.key);
        if read::<u64>(index, batch, &entry)?.is_none() {
            write(batch, &entry, &sequence)?;
        }
    }
    Ok(())
}

/// Appends a sequence to a resource's records.
fn append(index: &dyn Index, batch: &mut Batch, key: &Key, sequence: u64) -> Result<(), FactError> {
    let entry = trail_key(key);
    let mut page: Page = read(index, batch, &entry)?.unwrap_or_default();
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
    use crate::model::observed::Source;
    use crate::store::facts::Facts;
    use crate::store::index::MemoryIndex;
    use crate::store::testing::old;

    fn noted(records: &[Record]) -> Facts {
        let index = Arc::new(MemoryIndex::new());
        let mut batch = Batch::new();
        for (sequence, record) in (1..).zip(records) {
            note(&*index, &mut batch, sequence, record).unwrap();
        }
        index.apply(batch).unwrap();
        Facts::new(index)
    }

    fn made(name: &str, id: &str) -> Record {
        Record::Observation(Box::new(Observation {
            key: name.parse().unwrap(),
            merchant: "Merchant/acme".parse().unwrap(),
            at: chrono::DateTime::UNIX_EPOCH,
            source: Source::Answer,
            remote_id: Some(RemoteId::new(id).unwrap()),
            exists: Some(true),
            applied: None,
            facts: serde_json::json!({}),
        }))
    }

    #[test]
    fn an_intent_is_found_where_it_was_written_down() {
        let intent = old(7, "a", "acme", Mode::Test);
        let facts = noted(&[made("Contact/b", "1"), Record::Intent(Box::new(intent.clone()))]);
        let expect = Promise { sequence: 2, key: intent.key };
        assert_eq!(facts.promise(IntentId::new(7)).unwrap(), Some(expect));
        assert_eq!(facts.promise(IntentId::new(8)).unwrap(), None);
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
            let found = facts.remote(id).unwrap().into_iter();
            found.map(|(key, sequence)| (key.short(), sequence)).collect()
        };
        assert_eq!(owners("p_1"), [("Contact/a".to_owned(), 1), ("Contact/c".to_owned(), 3)]);
        assert_eq!(owners("p_12"), [("Contact/b".to_owned(), 2)]);
        assert!(owners("p_").is_empty());
    }
}
