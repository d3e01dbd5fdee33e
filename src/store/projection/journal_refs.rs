//! Folds the journal positions of all records about a resource, which `why` reads.
//!
//! A resource has one entry with the sequences of its records, newest last. A full page is moved to
//! an entry of its own number, so that no entry grows without bound.

use serde_json::Value;

use crate::base::id::{IntentId, Key, RemoteId};
use crate::model::intents::intent::IntentProgress;
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
    match record {
        Record::Intent(intent) => {
            let promise = IntentPosition { sequence, key: intent.key.clone() };
            write(batch, &intent_position_key(intent.id), &promise)?;
            append(index, batch, &intent.key, sequence)
        }
        Record::Progress { intent, at: _, progress } => {
            let Some(key) = resource_of(index, batch, *intent)? else { return Ok(()) };
            if let Some(taught) = observation_in(progress) {
                note_ids(index, batch, taught, sequence)?;
            }
            append(index, batch, &key, sequence)
        }
        Record::Observation(fact) => {
            note_ids(index, batch, fact, sequence)?;
            append(index, batch, &fact.key, sequence)
        }
        Record::OnHold { key, .. } | Record::Resumed { key, .. } => {
            append(index, batch, key, sequence)
        }
        Record::Approval(one) => append(index, batch, &one.binding.merchant, sequence),
        Record::Released(release) => append_all(index, batch, &release.keys, sequence),
        Record::Resolved { intent, at: _, actor: _, decision: _ } => {
            let Some(key) = resource_of(index, batch, *intent)? else { return Ok(()) };
            append(index, batch, &key, sequence)
        }
        Record::PlanApproval(approval) => {
            approval.steps.iter().try_for_each(|step| append(index, batch, &step.key, sequence))
        }
        Record::Unauthorised(refused) => append(index, batch, &refused.merchant, sequence),
        Record::Suspended(suspension) => append(index, batch, &suspension.key, sequence),
        Record::MissingDocument(absence) => append(index, batch, &absence.key, sequence),
        Record::Moved(moved) => {
            append(index, batch, &moved.from, sequence)?;
            append(index, batch, &moved.to, sequence)
        }
        Record::Adopted(adoption) => {
            note_ids(index, batch, &adoption.fact, sequence)?;
            append(index, batch, &adoption.fact.key, sequence)
        }
        Record::Forgotten(forgotten) => append(index, batch, &forgotten.key, sequence),
        Record::Disowned(disowned) => append(index, batch, &disowned.key, sequence),
        Record::UnknownObjects(strays) => append(index, batch, &strays.key, sequence),
        Record::EventVerified(told) => append_all(index, batch, &told.resources, sequence),
        Record::TokenAttached(one) => append(index, batch, &one.key, sequence),
        Record::OrphanDismissed(seen) => append(index, batch, &seen.key, sequence),
        Record::StateOwner(_)
        | Record::PartnerWebhook(_)
        | Record::WebhookReceived(_)
        | Record::Forged(_)
        | Record::Polled(_)
        | Record::HooksRun(_)
        | Record::CursorAdvanced(_)
        | Record::ActionSettled(_)
        | Record::NotificationAttempt(_)
        | Record::Replayed(_)
        | Record::Rotated(_)
        | Record::Rekeyed(_)
        | Record::EventsDropped(_)
        | Record::Lapsed(_)
        | Record::HooksAcknowledged(_)
        | Record::ScriptsLoaded(_)
        | Record::ScriptForgotten(_)
        | Record::EmptyRemote { .. }
        | Record::PlanUsed(_)
        | Record::Compacted(_)
        | Record::Restored(_) => Ok(()),
    }
}

/// Notes a record for each of these resources.
fn append_all<'k>(
    index: &dyn Index,
    batch: &mut Batch,
    keys: impl IntoIterator<Item = &'k Key>,
    sequence: u64,
) -> Result<(), ReadModelError> {
    keys.into_iter().try_for_each(|key| append(index, batch, key, sequence))
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

/// Returns the observation that a progress contains.
fn observation_in(progress: &IntentProgress) -> Option<&Observation> {
    match progress {
        IntentProgress::Done { observation, proof: _ } => Some(observation),
        IntentProgress::OnHold { reason: _, observation } => observation.as_deref(),
        IntentProgress::Resent
        | IntentProgress::Doubt { .. }
        | IntentProgress::NotSent { .. }
        | IntentProgress::Refused { .. }
        | IntentProgress::GivenUp { .. } => None,
    }
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
    use crate::store::testing::old_intent;

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
