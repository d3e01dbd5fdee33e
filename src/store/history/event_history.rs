//! The events of a period, and the runs of their hooks.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::reader::JournalSet;
use crate::base::id::Key;
use crate::model::events::event::VerifiedEvent;
use crate::model::events::hook_run::HookRunRecord;
use crate::model::record::Record;
use crate::store::journal::log::Head;
use crate::store::journal::read::JournalReader;
use crate::store::state::assemble::decode;
use crate::store::state::error::StoreError;

/// The events and hook runs of a period.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventHistory {
    /// The verified events, in order.
    pub events: Vec<VerifiedEvent>,
    /// Every run of their hooks, in the order of the journal.
    pub runs: Vec<HookRunRecord>,
}

impl JournalSet {
    /// Returns the events verified since `since`, up to this head, with their runs. Records that a
    /// compaction dropped are missing.
    pub fn events(&self, since: DateTime<Utc>, head: Head) -> Result<EventHistory, StoreError> {
        self.retry_while_moving(|| self.events_once(since, head))
    }

    fn events_once(&self, since: DateTime<Utc>, head: Head) -> Result<EventHistory, StoreError> {
        let mut past = EventHistory::default();
        let mut known = BTreeSet::new();
        let base = self.journal.base()?.map_or(Head::EMPTY, |base| base.head);
        if let Some(archive) = self.archive.as_ref().filter(|_| base.sequence > 0) {
            let first = archive.first()?.unwrap_or(u64::MAX);
            gather(archive, (first, base.sequence), since, &mut past, &mut known)?;
        }
        let rest = (base.sequence.saturating_add(1), head.sequence);
        gather(&self.journal, rest, since, &mut past, &mut known)?;
        Ok(past)
    }
}

/// Gathers events and runs from these records. `known` holds the events of the period.
fn gather(
    reader: &JournalReader,
    (first, last): (u64, u64),
    since: DateTime<Utc>,
    past: &mut EventHistory,
    known: &mut BTreeSet<(Key, String)>,
) -> Result<(), StoreError> {
    for record in reader.records(first, last) {
        let record = record?;
        let record = decode(record.sequence, &record.body)?;
        if let Record::EventVerified(told) = record {
            if told.at >= since {
                known.insert((told.merchant.clone(), told.event.clone()));
                past.events.push(*told);
            }
        } else if let Record::HooksRun(ran) = record
            && known.contains(&(ran.merchant.clone(), ran.event.clone()))
        {
            past.runs.push(*ran);
        }
    }
    Ok(())
}
