//! Reads durable records, also while others are appended.
//!
//! Single records are verified from the beginning of their segment.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::store::disk::traits::{Disk, to_u64, to_usize};
use crate::store::journal::chain::{
    DamageEvidence, HEADER_BYTES, Head, JournalError, JournalRecord, JournalResult, RecordSlot,
};
use crate::store::journal::segment::{Segment, SnapshotHeader};
use crate::store::journal::{chain, check, segment};

/// A handle that reads records. Its caller must pass what is durable: no reader looks further.
#[derive(Debug, Clone)]
pub struct JournalReader {
    disk: Arc<dyn Disk>,
}

impl JournalReader {
    /// Returns a handle over the files of a journal that another process may own.
    pub fn over(disk: Arc<dyn Disk>) -> Self {
        Self { disk }
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        self.disk.as_ref()
    }

    /// Returns the records of sequence `first` to `last`, both included; `last` must be durable.
    ///
    /// Reading begins at the start of the segment that holds `first`, and every record is verified
    /// against the record before it. Nothing follows an error.
    pub fn records(&self, first: u64, last: u64) -> JournalRecords {
        let (disk, done) = (Arc::clone(&self.disk), first > last);
        JournalRecords { disk, first: first.max(1), last, ahead: None, current: None, done }
    }

    /// Returns the durable records of the segment that begins with `first`, up to `last` at most.
    pub fn segment_records(
        &self,
        first: u64,
        last: u64,
    ) -> JournalResult<impl Iterator<Item = JournalResult<JournalRecord>> + use<>> {
        let segment = Segment::read(self.disk(), first)?;
        let end = segment.records().last().map_or(segment.head_before(), |(last, _)| last.head());
        Ok(self.records(first, end.sequence.min(last)))
    }

    /// Returns the snapshot at which the journal begins; `None` if it begins at its first record.
    pub fn base(&self) -> JournalResult<Option<SnapshotHeader>> {
        segment::base_snapshot(self.disk(), &segment::list_segments(self.disk())?)
    }

    /// Returns every snapshot on this disk, oldest first, named by a record or not.
    pub fn snapshots(&self) -> JournalResult<Vec<SnapshotHeader>> {
        let sequences = segment::list_snapshots(self.disk())?.into_iter();
        sequences.map(|sequence| segment::snapshot_header(self.disk(), sequence)).collect()
    }

    pub fn body(&self, sealed: &SnapshotHeader) -> JournalResult<Vec<u8>> {
        segment::snapshot_body(self.disk(), sealed)
    }

    /// Returns the first sequence of the first segment; `None` if there is no segment.
    pub fn first(&self) -> JournalResult<Option<u64>> {
        Ok(segment::list_segments(self.disk())?.first().copied())
    }

    /// Returns the records of these sequences, which must ascend and be durable.
    pub fn pick(&self, sequences: &[u64]) -> JournalResult<PickedRecords> {
        let segments = segment::list_segments(self.disk())?;
        let segment_of = |sequence: u64| segments.iter().rev().find(|first| **first <= sequence);
        let mut picked = PickedRecords::default();
        for group in sequences.chunk_by(|one, next| segment_of(*one) == segment_of(*next)) {
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            let begins = segment_of(*first).copied().unwrap_or(*first);
            for record in self.records(begins, *last) {
                let record = record?;
                if group.contains(&record.sequence) {
                    picked.records.push(record);
                }
            }
            picked.verified.push((begins, *last));
        }
        Ok(picked)
    }
}

/// Records in order, each verified.
#[derive(Debug)]
pub struct JournalRecords {
    disk: Arc<dyn Disk>,
    first: u64,
    last: u64,
    /// The segments not yet entered; listed at the first step.
    ahead: Option<VecDeque<u64>>,
    current: Option<ReadPosition>,
    done: bool,
}

#[derive(Debug)]
struct ReadPosition {
    segment: Segment,
    offset: usize,
    head: Head,
}

impl Iterator for JournalRecords {
    type Item = JournalResult<JournalRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.done {
            let step = self.step();
            match &step {
                Ok(record) if record.sequence < self.first => continue,
                Ok(record) => self.done = record.sequence >= self.last,
                Err(_) => self.done = true,
            }
            return Some(step);
        }
        None
    }
}

impl JournalRecords {
    fn step(&mut self) -> JournalResult<JournalRecord> {
        loop {
            let place = self.current.take().map_or_else(|| self.enter(None), Ok)?;
            match chain::parse_at(&place.segment.bytes, place.offset) {
                RecordSlot::Record(found) => {
                    place.segment.check_next(place.offset, &found, place.head)?;
                    let (head, body) = (found.head(), found.body.to_vec());
                    let offset = place.offset.saturating_add(found.size);
                    self.current = Some(ReadPosition { segment: place.segment, offset, head });
                    return Ok(JournalRecord { sequence: head.sequence, hash: head.hash, body });
                }
                RecordSlot::End => self.current = Some(self.enter(Some(place.head))?),
                RecordSlot::UnknownVersion(found) => {
                    return Err(check::version_error(&place.segment, place.offset, found));
                }
                RecordSlot::Invalid(why) => {
                    let sequence = place.head.sequence.saturating_add(1);
                    let (file, offset) = (place.segment.file, to_u64(place.offset));
                    let follows = DamageEvidence::Acknowledged;
                    return Err(JournalError::Damaged { file, offset, sequence, why, follows });
                }
            }
        }
    }

    /// Enters the next segment. The first segment's header is trusted for the hash before it.
    fn enter(&mut self, head: Option<Head>) -> JournalResult<ReadPosition> {
        let next = match self.ahead.as_mut() {
            Some(ahead) => ahead.pop_front(),
            None => self.ahead.insert(segments_from(self.disk.as_ref(), self.first)?).pop_front(),
        };
        let expected = head.map_or(self.first, |head| head.sequence.saturating_add(1));
        let first = next.ok_or(JournalError::MissingSegment { expected, found: None })?;
        let segment = Segment::read(self.disk.as_ref(), first)?;
        let head = head.unwrap_or(segment.head_before());
        segment.continues(head)?;
        Ok(ReadPosition { segment, offset: to_usize(HEADER_BYTES), head })
    }
}

/// Returns the segments from the one that holds `sequence` on.
fn segments_from(disk: &dyn Disk, sequence: u64) -> JournalResult<VecDeque<u64>> {
    let mut segments = VecDeque::from(segment::list_segments(disk)?);
    while segments.get(1).is_some_and(|second| *second <= sequence) {
        segments.pop_front();
    }
    Ok(segments)
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PickedRecords {
    pub records: Vec<JournalRecord>,
    /// Ranges of records whose checksums, hashes and links were verified: first and last sequence.
    pub verified: Vec<(u64, u64)>,
}

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
    pub(crate) fn retry_while_moving<T, E: From<JournalError>>(
        &self,
        read: impl Fn() -> Result<T, E>,
    ) -> Result<T, E> {
        let begins = || -> JournalResult<_> {
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
    pub(crate) fn pick(&self, sequences: &[u64]) -> JournalResult<(PickedRecords, Vec<u64>)> {
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

    /// Verifies the chain to this head, from the first record that exists; returns its sequence.
    pub fn verify(&self, head: Head) -> JournalResult<u64> {
        self.retry_while_moving(|| {
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
        })
    }
}

/// Verifies the records from `first` on, which must end in this head.
fn ends_at(reader: &JournalReader, first: u64, head: Head) -> JournalResult {
    let mut last = Head::EMPTY;
    for record in reader.records(first, head.sequence) {
        last = record?.head();
    }
    if last == head {
        return Ok(());
    }
    Err(JournalError::Forgotten { known: head, found: last })
}
