//! Journal positions of all records about a resource, for `why`: entries, their fold, their reads.
//!
//! A resource has one entry with the sequences of its records, newest last. A full page is moved to
//! an entry of its own number, so that no entry grows without bound.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::id::{IntentId, Key, RemoteId};
use crate::model::events::event::WebhookContent;
use crate::model::record::Record;
use crate::model::state::observed::Observation;
use crate::store::read_model::model::{Changes, Entries, ReadModel, ReadResult, Table, decode};

pub(crate) static INTENT_POSITIONS: Table<IntentId, IntentPosition> = Table::new(b"q/");
pub(crate) static SEQUENCES: Table<Key, SequencePage> = Table::new(b"t/");
pub(crate) static SEQUENCE_PAGES: Table<(Key, u32), Vec<u64>> = Table::new(b"g/");
/// The first record that joins an id of the service and a resource.
pub(crate) static REMOTE: Table<(String, Key), u64> = Table::new(b"j/");

/// The records about each event, by merchant, event and sequence.
pub(crate) static EVENT_RECORDS: Table<((Key, String), u64), ()> = Table::new(b"w/j/");

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntentPosition {
    pub sequence: u64,
    pub key: Key,
}

/// The newest sequences of a resource's records, and the number of full pages before them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SequencePage {
    pub(crate) full: u32,
    pub(crate) sequences: Vec<u64>,
}

impl ReadModel {
    /// Returns the journal position of an intent, settled or not.
    pub fn intent_position(&self, id: IntentId) -> ReadResult<Option<IntentPosition>> {
        INTENT_POSITIONS.get(self, id)
    }

    /// Returns the resources that an id of the service belongs to, each with the first record that
    /// names the id. A resource that was renamed is listed under both names.
    pub fn resources_of_id(&self, id: &str) -> ReadResult<Vec<(Key, u64)>> {
        let named = REMOTE.under(id);
        // An id is any text, so a longer id may begin with this one and a zero byte. No key holds
        // such a byte.
        let own = |key: &[u8]| key.get(named.prefix().len()..).is_some_and(|end| !end.contains(&0));
        let mut all = Vec::new();
        for (key, value) in self.scan(named.prefix())?.into_iter().filter(|(key, _)| own(key)) {
            all.push((named.parse(&key)?, decode(&key, &value)?));
        }
        for (key, sequence) in all.clone() {
            let now = self.current_name(&key)?;
            if !all.iter().any(|(one, _)| *one == now) {
                all.push((now, sequence));
            }
        }
        Ok(all)
    }

    /// Returns the sequences of at most `most` records about an event, the newest ones, ascending.
    pub fn event_records(&self, merchant: &Key, event: &str, most: usize) -> ReadResult<Vec<u64>> {
        let mut sequences = event_sequences(self, merchant, event)?;
        let skipped = sequences.len().saturating_sub(most);
        Ok(sequences.split_off(skipped))
    }

    /// Returns the names of a resource: the former ones, and last the present one.
    pub fn names(&self, key: &Key) -> ReadResult<Vec<Key>> {
        let now = self.current_name(key)?;
        let mut names = self.observed_state(&now)?.map(|known| known.former).unwrap_or_default();
        names.retain(|name| *name != now);
        names.push(now);
        Ok(names)
    }

    /// Returns the sequences of all records about a resource, ascending.
    pub fn record_sequences(&self, key: &Key) -> ReadResult<Vec<u64>> {
        let Some(newest) = SEQUENCES.get(self, key)? else { return Ok(Vec::new()) };
        let mut sequences = Vec::new();
        for number in 0..newest.full {
            sequences.extend(SEQUENCE_PAGES.get(self, (key, number))?.unwrap_or_default());
        }
        sequences.extend(newest.sequences);
        Ok(sequences)
    }
}

/// Sequences on one page: an entry stays below 4 KB.
const PAGE_MAX: usize = 400;

/// Facts that hold the id of another object of the service, such as a recurring charge's payment.
const IDS: [&str; 7] = [
    "first_charge",
    "transaction",
    "transaction_id",
    "charge_id",
    "refund_id",
    "credit_id",
    "file_id",
];

/// Returns the event that a record is about.
#[expect(clippy::wildcard_enum_match_arm, reason = "all other records are about no event")]
fn event_of(record: &Record) -> Option<(&Key, &str)> {
    Some(match record {
        Record::WebhookReceived(post) => match &post.what {
            WebhookContent::Event(id) | WebhookContent::OtherMode(id) => (&post.merchant, id),
            WebhookContent::Malformed(_) => return None,
        },
        Record::EventVerified(told) => (&told.merchant, &told.event),
        Record::Forged(forged) => (&forged.merchant, &forged.event),
        Record::HooksRun(ran) => (&ran.merchant, &ran.event),
        Record::ActionSettled(result) => (&result.id.merchant, &result.id.event),
        Record::NotificationAttempt(attempt) => (&attempt.id.merchant, &attempt.id.event),
        Record::Replayed(replayed) => (&replayed.merchant, &replayed.event),
        _ => return None,
    })
}

/// Notes the place of a record about an event.
pub(crate) fn note_event(changes: &mut Changes<'_>, sequence: u64, record: &Record) {
    if let Record::ReplayRequested(request) = record {
        for run in &request.runs {
            EVENT_RECORDS.mark(changes, ((&run.merchant, &run.event), sequence));
        }
    }
    if let Some(event) = event_of(record) {
        EVENT_RECORDS.mark(changes, (event, sequence));
    }
}

fn event_sequences(entries: &impl Entries, merchant: &Key, event: &str) -> ReadResult<Vec<u64>> {
    let under = EVENT_RECORDS.under((merchant, event));
    let begin = under.prefix().len();
    // An id is any text: the keys of a longer one may begin with this one and a zero byte.
    let number = |key: &[u8]| Some(u64::from_be_bytes(key.get(begin..)?.try_into().ok()?));
    Ok(entries.scan(under.prefix())?.iter().filter_map(|(key, _)| number(key)).collect())
}

/// Removes the places of an event's records.
pub(crate) fn forget_event(changes: &mut Changes<'_>, merchant: &Key, event: &str) -> ReadResult {
    for sequence in event_sequences(changes, merchant, event)? {
        EVENT_RECORDS.remove(changes, ((merchant, event), sequence));
    }
    Ok(())
}

pub(crate) fn note(changes: &mut Changes<'_>, sequence: u64, record: &Record) -> ReadResult {
    if let Record::Intent(intent) = record {
        let position = IntentPosition { sequence, key: intent.key.clone() };
        INTENT_POSITIONS.put(changes, intent.id, &position)?;
    }
    if let Record::Progress { intent, .. } | Record::Resolved { intent, .. } = record {
        let Some(position) = INTENT_POSITIONS.get(changes, *intent)? else { return Ok(()) };
        append_sequence(changes, &position.key, sequence)?;
    }
    if let Some(fact) = record.observation() {
        note_ids(changes, fact, sequence)?;
    }
    record.subjects().into_iter().try_for_each(|key| append_sequence(changes, key, sequence))
}

/// Returns the service's ids that belong to a resource: its own, and those in its facts.
pub(crate) fn ids_of(remote_id: Option<&RemoteId>, facts: &Value) -> impl Iterator<Item = String> {
    let own = remote_id.map(|id| id.as_str().to_owned());
    let others = IDS.iter().filter_map(|name| facts.get(name)?.as_str()).map(str::to_owned);
    own.into_iter().chain(others)
}

/// Notes the resource that an id of the service belongs to, and the first record that names the id.
fn note_ids(changes: &mut Changes<'_>, fact: &Observation, sequence: u64) -> ReadResult {
    for id in ids_of(fact.remote_id.as_ref(), &fact.facts) {
        if !REMOTE.has(changes, (&id, &fact.key))? {
            REMOTE.put(changes, (&id, &fact.key), &sequence)?;
        }
    }
    Ok(())
}

fn append_sequence(changes: &mut Changes<'_>, key: &Key, sequence: u64) -> ReadResult {
    let mut page = SEQUENCES.get(changes, key)?.unwrap_or_default();
    if page.sequences.len() >= PAGE_MAX {
        let full = std::mem::take(&mut page.sequences);
        SEQUENCE_PAGES.put(changes, (key, page.full), &full)?;
        page.full = page.full.saturating_add(1);
    }
    page.sequences.push(sequence);
    SEQUENCES.put(changes, key, &page)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::id::Mode;
    use crate::model::state::observed::FactSource;
    use crate::store::index::ordered::{Batch, Index as _, MemoryIndex};
    use crate::store::tests::support::old_intent;

    fn noted(records: &[Record]) -> ReadModel {
        let index = Arc::new(MemoryIndex::new());
        let mut batch = Batch::new();
        let mut changes = Changes::new(&*index, &mut batch);
        for (sequence, record) in (1..).zip(records) {
            note(&mut changes, sequence, record).unwrap();
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
