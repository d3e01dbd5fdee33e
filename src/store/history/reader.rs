//! History of a resource: everything that the journal holds about it, by effect. `why` shows it.
//!
//! Read from the journal's files alone: no service, no index. Everything shown was verified:
//! checksums, hashes, and the links from the beginning of each segment that was read.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::model::events::event::VerifiedEvent;
use crate::model::events::hook_run::HookRunRecord;
use crate::model::record::Record;
use crate::store::error::StoreError;
use crate::store::history::entries::{RecordRef, ResourceHistory, add_record};
use crate::store::journal::chain::{Head, JournalError};
use crate::store::journal::read::{JournalReader, PickedRecords};
use crate::store::writer::core::{decode, decoded};

const READS_MAX: usize = 5;

/// The journal's files: the segments in use, and the archived ones.
#[derive(Debug, Clone)]
pub struct JournalSet {
    pub journal: JournalReader,
    /// The archived segments, if the folder exists.
    pub archive: Option<JournalReader>,
}

impl JournalSet {
    /// Repeats a read if a concurrent compaction moved or dropped segments meanwhile.
    pub(crate) fn retry_while_moving<T>(
        &self,
        read: impl Fn() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let begins = || -> Result<_, StoreError> {
            let archive = self.archive.as_ref().map(JournalReader::first).transpose()?;
            Ok((self.journal.first()?, archive.flatten()))
        };
        let (mut before, mut tries) = (begins()?, READS_MAX);
        loop {
            let done = read();
            let now = begins()?;
            tries = tries.saturating_sub(1);
            if now == before || tries == 0 {
                return done;
            }
            before = now;
        }
    }

    /// Returns the records of these sequences, and the sequences that no longer exist.
    fn pick(&self, sequences: &[u64]) -> Result<(PickedRecords, Vec<u64>), StoreError> {
        let begins = self.journal.first()?.unwrap_or(1);
        let split = sequences.partition_point(|sequence| *sequence < begins);
        let (older, newer) = sequences.split_at(split);
        let (mut picked, mut dropped) = (PickedRecords::default(), Vec::new());
        match &self.archive {
            Some(archive) if !older.is_empty() => {
                let begins = archive.first()?.unwrap_or(u64::MAX);
                let split = older.partition_point(|sequence| *sequence < begins);
                dropped.extend(older.iter().take(split));
                picked = archive.pick(older.get(split..).unwrap_or_default())?;
            }
            Some(_) | None => dropped.extend(older),
        }
        let newer = self.journal.pick(newer)?;
        picked.records.extend(newer.records);
        picked.verified.extend(newer.verified);
        Ok((picked, dropped))
    }

    /// Verifies the chain to this head, from the first record that exists; returns that record's
    /// sequence.
    pub fn verify(&self, head: Head) -> Result<u64, StoreError> {
        self.retry_while_moving(|| self.verify_once(head))
    }

    fn verify_once(&self, head: Head) -> Result<u64, StoreError> {
        let base = self.journal.base()?.map_or(Head::EMPTY, |base| base.head);
        let mut first = base.sequence.saturating_add(1);
        if let Some(archive) = self.archive.as_ref().filter(|_| base.sequence > 0) {
            let begins = archive.first()?.unwrap_or(first);
            if begins < first {
                ends_at(archive, begins, base)?;
                first = begins;
            }
        }
        ends_at(&self.journal, base.sequence.saturating_add(1), head)?;
        Ok(first)
    }

    pub fn history(&self, key: &Key, sequences: &[u64]) -> Result<ResourceHistory, StoreError> {
        let (picked, dropped) = self.retry_while_moving(|| self.pick(sequences))?;
        let mut story = ResourceHistory {
            key: key.clone(),
            effects: Vec::new(),
            others: Vec::new(),
            approvals: Vec::new(),
            verified: picked.verified,
            dropped,
        };
        for record in picked.records {
            let hash = Digest::from_bytes(record.hash);
            let stands = RecordRef { record: record.sequence, hash };
            add_record(&mut story, stands, decode(record.sequence, &record.body)?);
        }
        Ok(story)
    }
}

/// Verifies the records from `first` on, which must end in this head.
fn ends_at(reader: &JournalReader, first: u64, head: Head) -> Result<(), StoreError> {
    let mut last = Head::EMPTY;
    for record in reader.records(first, head.sequence) {
        last = record?.head();
    }
    if last == head {
        return Ok(());
    }
    Err(JournalError::Forgotten { known: head, found: last }.into())
}

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
    for record in decoded(reader.records(first, last)) {
        let (_, record) = record?;
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
