//! The journal's files as a whole: opening, which creates the first segment or verifies the existing
//! ones and cuts a torn tail; compaction, where a snapshot replaces the records up to it; and the
//! extent that a copy needs.
//!
//! Guarantees of a compaction: at every moment either all segments from the first on exist, or a
//! durable snapshot that a durable record names. The order is:
//!
//! 1. A new segment.
//! 2. The snapshot of the state before it.
//! 3. A record that names the snapshot.
//! 4. Only then the removal of the old segments, oldest first.
//!
//! Others may append meanwhile, so other records may precede the one that names the snapshot.

use std::sync::Arc;

use crate::store::disk::traits::{Disk, to_u64, to_usize};
use crate::store::journal::chain::{
    DamageEvidence, HEADER_BYTES, Head, JournalError, JournalResult, Position, RecordSlot, Tail,
    next_sequence,
};
use crate::store::journal::check::{Anchors, WalkResult, chain_start, first_is_missing};
use crate::store::journal::log::Journal;
use crate::store::journal::read::JournalReader;
use crate::store::journal::segment::Segment;
use crate::store::journal::{chain, check, segment};

#[derive(Debug, Clone, Copy)]
pub struct JournalOptions {
    /// The length of a new segment, in bytes. A record that needs more gets a longer segment.
    pub segment_bytes: u64,
    /// Start of the verification: the position of a clean stop, held in the index. Without it
    /// everything is verified.
    pub trusted: Option<Position>,
    /// A head that was durable before, for example the one that the index was folded to. A journal
    /// that does not run through it is neither opened nor cut.
    pub known: Option<Head>,
    /// The head that the mark outside the state directory names. A journal that does not run
    /// through it is an older or another one: it opens, and is not cut.
    pub marked: Option<Head>,
}

impl Default for JournalOptions {
    fn default() -> Self {
        Self { segment_bytes: 4 << 20, trusted: None, known: None, marked: None }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalOpening {
    pub head: Head,
    pub cut: Option<CutTail>,
    /// The head that the mark names, if the journal does not run through it.
    pub missed_mark: Option<Head>,
}

/// A tail that was cut: the rest of a write that was never acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutTail {
    /// The file within `STATE/journal`.
    pub segment: String,
    /// Position of the cut, in bytes from the start of the file.
    pub offset: u64,
    /// Number of bytes between the cut and the end of the file, unwritten zeros included.
    pub bytes: u64,
}

impl Journal {
    /// Verifies every record from the first and returns the head that was found.
    ///
    /// # Errors
    /// Any damage, also in a trusted part, a torn tail, or a chain that ends in another head.
    pub fn verify(&self) -> JournalResult<Head> {
        let (disk, head) = (self.disk.as_ref(), self.head());
        let segments = segment::list_segments(disk)?;
        let start = chain_start(disk, &segments)?;
        let checked = check::check(disk, &segments, start, Anchors::new(Some(head), None))?;
        if checked.torn {
            let (why, follows) = ("bytes follow the last record", DamageEvidence::Acknowledged);
            return Err(checked.damaged_tail(next_sequence(head.sequence)?, why, follows));
        }
        Ok(checked.last.head)
    }

    /// Opens the journal on this disk, or creates it.
    ///
    /// All records that were accepted are durable when this returns.
    ///
    /// # Errors
    /// A record from the trusted position on is damaged or breaks the chain; nothing was changed.
    pub fn open(
        disk: Arc<dyn Disk>,
        options: JournalOptions,
    ) -> JournalResult<(Self, JournalOpening)> {
        let mut segments = segment::list_segments(disk.as_ref())?;
        // A crash may have interrupted the creation of the last segment.
        let unborn = match segments.last() {
            Some(first) if segment::is_unfinished(disk.as_ref(), *first)? => segments.pop(),
            Some(_) | None => None,
        };
        if segments.is_empty() {
            return create_journal(disk, options, unborn);
        }
        let start = start_position(disk.as_ref(), &segments, options.trusted)?;
        let anchors = Anchors::new(options.known, options.marked);
        let checked = check::check(disk.as_ref(), &segments, start, anchors)?;
        if let Some(first) = unborn {
            remove_unfinished(disk.as_ref(), first, &checked)?;
        }
        let cut = if checked.torn { Some(cut_tail(disk.as_ref(), checked.tail)?) } else { None };
        if cut.is_some() || checked.last != start {
            let file = segment::segment_name(checked.tail.segment);
            disk.sync(&file).map_err(JournalError::io("sync", &file))?;
        }
        let behind = options.marked.filter(|_| checked.misses_mark);
        let opened = JournalOpening { head: checked.last.head, cut, missed_mark: behind };
        Ok((Self::at(disk, options, checked.last, checked.tail), opened))
    }

    fn at(disk: Arc<dyn Disk>, options: JournalOptions, last: Position, tail: Tail) -> Self {
        let segment_bytes = options.segment_bytes.max(HEADER_BYTES);
        Self { disk, segment_bytes, written: last, durable: last, tail, poisoned: None, mark: None }
    }
}

fn create_journal(
    disk: Arc<dyn Disk>,
    options: JournalOptions,
    unborn: Option<u64>,
) -> JournalResult<(Journal, JournalOpening)> {
    let trusted = options.trusted.map(|position| position.head);
    if let Some(known) = options.known.or(trusted).filter(|known| known.sequence > 0) {
        return Err(JournalError::Forgotten { known, found: Head::EMPTY });
    }
    match unborn {
        Some(1) => remove_segment(disk.as_ref(), 1)?,
        Some(first) => return Err(first_is_missing(first)),
        None => {}
    }
    let tail = segment::create_segment(disk.as_ref(), Head::EMPTY, options.segment_bytes)?;
    let behind = options.marked.filter(|marked| marked.sequence > 0);
    let opened = JournalOpening { head: Head::EMPTY, cut: None, missed_mark: behind };
    Ok((Journal::at(disk, options, Position::START, tail), opened))
}

/// Returns the start of the verification: the confirmed trusted position, else the first record.
fn start_position(
    disk: &dyn Disk,
    segments: &[u64],
    trusted: Option<Position>,
) -> JournalResult<Position> {
    let start = chain_start(disk, segments)?;
    let behind = start.head.sequence;
    let Some(trusted) = trusted.filter(|position| position.head.sequence > behind) else {
        return Ok(start);
    };
    if !segments.contains(&trusted.segment) {
        return Err(JournalError::MissingSegment { expected: trusted.segment, found: None });
    }
    confirm_position(&Segment::read(disk, trusted.segment)?, trusted)
}

/// Verifies that the record which a position names is still there.
fn confirm_position(segment: &Segment, trusted: Position) -> JournalResult<Position> {
    let begins = to_usize(trusted.begins);
    if let RecordSlot::Record(found) = chain::parse_at(&segment.bytes, begins) {
        let ends = begins.saturating_add(found.size);
        if found.head() == trusted.head && ends == to_usize(trusted.ends) {
            return Ok(trusted);
        }
    }
    let (file, offset, sequence) = (segment.file.clone(), trusted.begins, trusted.head.sequence);
    Err(JournalError::Untrusted { file, offset, sequence })
}

/// Removes a segment that was never completed, if it is the one that comes next.
fn remove_unfinished(disk: &dyn Disk, first: u64, checked: &WalkResult) -> JournalResult {
    let file = segment::segment_name(first);
    let expected = next_sequence(checked.last.head.sequence)?;
    if checked.torn {
        let follows = DamageEvidence::Segment { file };
        return Err(checked.damaged_tail(expected, "it cannot be read", follows));
    }
    if first != expected {
        return Err(JournalError::MissingSegment { expected, found: Some(file) });
    }
    remove_segment(disk, first)
}

/// Cuts the torn tail and fills its place with zeros again.
fn cut_tail(disk: &dyn Disk, tail: Tail) -> JournalResult<CutTail> {
    let segment = segment::segment_name(tail.segment);
    disk.cut(&segment, tail.offset).map_err(JournalError::io("cut", &segment))?;
    disk.allocate(&segment, tail.capacity).map_err(JournalError::io("allocate", &segment))?;
    let bytes = tail.capacity.saturating_sub(tail.offset);
    Ok(CutTail { segment, offset: tail.offset, bytes })
}

impl Journal {
    /// Returns the snapshot behind which the chain on this disk begins.
    pub fn base(&self) -> JournalResult<Option<segment::SnapshotHeader>> {
        self.reader().base()
    }

    /// Ends the segment in use and returns the last durable record. A snapshot can replace the
    /// records up to it. Everything written must be durable.
    pub fn end_segment(&mut self) -> JournalResult<Head> {
        self.refuse_if_poisoned()?;
        let head = self.head();
        if self.tail.segment <= head.sequence {
            let done = self.roll(0);
            self.poison_on_failure(done)?;
        }
        Ok(head)
    }
}

/// Writes a snapshot of the state after the last record of a segment, and returns its hash. Nothing
/// depends on the snapshot before a record names this hash.
pub fn write_snapshot(
    disk: &dyn Disk,
    head: Head,
    fold: u32,
    body: &[u8],
) -> JournalResult<[u8; 32]> {
    let base = segment::base_snapshot(disk, &segment::list_segments(disk)?)?
        .map_or(0, |base| base.head.sequence);
    for leftover in segment::list_snapshots(disk)?.into_iter().filter(|found| *found != base) {
        remove_file(disk, &segment::snapshot_name(leftover))?;
    }
    let (bytes, hash) = segment::seal_snapshot(head, fold, body);
    let file = segment::snapshot_name(head.sequence);
    disk.replace(&file, &bytes).map_err(JournalError::io("write", &file))?;
    Ok(hash)
}

/// Archives the segments that the snapshot behind `head` replaces, or drops them if there is no
/// archive. Returns their number. The record that names the snapshot must be durable.
pub fn archive_segments(
    disk: &dyn Disk,
    head: Head,
    archive: Option<&dyn Disk>,
) -> JournalResult<usize> {
    segment::snapshot_header(disk, head.sequence)?;
    for older in segment::list_snapshots(disk)?.into_iter().filter(|older| *older < head.sequence) {
        remove_file(disk, &segment::snapshot_name(older))?;
    }
    let mut replaced = segment::list_segments(disk)?;
    replaced.retain(|first| *first <= head.sequence);
    for first in &replaced {
        let file = segment::segment_name(*first);
        if let Some(archive) = archive {
            let bytes = segment::read_file(disk, &file)?;
            archive.replace(&file, &bytes).map_err(JournalError::io("archive", &file))?;
        }
        remove_file(disk, &file)?;
    }
    Ok(replaced.len())
}

impl JournalReader {
    /// Returns the first sequences of the segments on this disk, ascending.
    pub fn segments(&self) -> JournalResult<Vec<u64>> {
        segment::list_segments(self.disk())
    }

    /// Passes the bytes of every file to `show`: records and snapshots as they are on the disk.
    pub fn each_file(&self, mut show: impl FnMut(&[u8])) -> JournalResult {
        let segments = self.segments()?.into_iter().map(segment::segment_name);
        let snapshots = segment::list_snapshots(self.disk())?.into_iter();
        for file in segments.chain(snapshots.map(segment::snapshot_name)) {
            show(&segment::read_file(self.disk(), &file)?);
        }
        Ok(())
    }
}

/// Removes a segment that no reader needs any more, durably.
pub fn remove_segment(disk: &dyn Disk, first: u64) -> JournalResult {
    remove_file(disk, &segment::segment_name(first))
}

fn remove_file(disk: &dyn Disk, file: &str) -> JournalResult {
    disk.remove(file).map_err(JournalError::io("remove", file))
}

/// Returns the files of the journal up to this head, in order, each with its number of bytes.
///
/// Complete segments are not read. The last one is read up to the head, which must be in it;
/// records that others append meanwhile are left out.
pub fn extent(disk: &dyn Disk, head: Head) -> JournalResult<Vec<(String, u64)>> {
    let mut segments = segment::list_segments(disk)?;
    let mut files = Vec::new();
    let base = segment::base_snapshot(disk, &segments)?;
    if let Some(base) = &base {
        files.push(measure(disk, base.file())?);
    }
    let begins = base.map_or(0, |base| base.head.sequence);
    segments.retain(|first| *first > begins && *first <= head.sequence);
    let missing = JournalError::MissingSegment { expected: head.sequence, found: None };
    let last = segments.pop().ok_or(missing)?;
    for full in segments {
        files.push(measure(disk, segment::segment_name(full))?);
    }
    files.push((segment::segment_name(last), end_of(&Segment::read(disk, last)?, head)?));
    Ok(files)
}

fn measure(disk: &dyn Disk, file: String) -> JournalResult<(String, u64)> {
    let bytes = disk.len(&file).map_err(JournalError::io("read", &file))?;
    Ok((file, bytes))
}

fn end_of(segment: &Segment, head: Head) -> JournalResult<u64> {
    let records = segment.records().take_while(|(record, _)| record.sequence <= head.sequence);
    let before = (segment.head_before(), to_usize(HEADER_BYTES));
    let (found, end) = records.last().map_or(before, |(last, end)| (last.head(), end));
    if found == head {
        return Ok(to_u64(end));
    }
    Err(JournalError::Forgotten { known: head, found })
}
