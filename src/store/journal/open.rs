//! Opens a journal: creates the first segment, or verifies the existing ones and cuts a torn tail.

use std::sync::Arc;

use super::chain::{DamageEvidence, HEADER_BYTES, Head, JournalError, Position, Tail, next};
use super::check::{Anchors, WalkResult};
use super::log::Journal;
use super::record::RecordSlot;
use super::segment::Segment;
use super::{check, record, segment};
use crate::store::disk::bytes::to_usize;
use crate::store::disk::traits::Disk;
use crate::store::journal::check::{chain_start, first_is_missing};

/// Options of opening a journal.
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

/// Result of opening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalOpening {
    /// The last record.
    pub head: Head,
    /// The tail that was cut, to be reported.
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
    /// Opens the journal on this disk, or creates it.
    ///
    /// All records that were accepted are durable when this returns.
    ///
    /// # Errors
    /// A record from the trusted position on is damaged or does not continue the record before it;
    /// then nothing was changed.
    pub fn open(
        disk: Arc<dyn Disk>,
        options: JournalOptions,
    ) -> Result<(Self, JournalOpening), JournalError> {
        let mut segments = segment::list(disk.as_ref())?;
        let unborn = pop_unfinished(disk.as_ref(), &mut segments)?;
        if segments.is_empty() {
            return create(disk, options, unborn);
        }
        let start = start_position(disk.as_ref(), &segments, options.trusted)?;
        let anchors = Anchors { known: options.known, marked: options.marked };
        let checked = check::check(disk.as_ref(), &segments, start, anchors)?;
        if let Some(first) = unborn {
            remove_unfinished(disk.as_ref(), first, &checked)?;
        }
        let cut = if checked.torn { Some(cut(disk.as_ref(), checked.tail)?) } else { None };
        if cut.is_some() || checked.last != start {
            let file = segment::name(checked.tail.segment);
            disk.sync(&file).map_err(|source| JournalError::io("sync", &file, source))?;
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

/// Takes the last segment off the list if a crash interrupted its creation.
fn pop_unfinished(disk: &dyn Disk, segments: &mut Vec<u64>) -> Result<Option<u64>, JournalError> {
    match segments.last() {
        Some(first) if segment::is_unfinished(disk, *first)? => Ok(segments.pop()),
        Some(_) | None => Ok(None),
    }
}

fn create(
    disk: Arc<dyn Disk>,
    options: JournalOptions,
    unborn: Option<u64>,
) -> Result<(Journal, JournalOpening), JournalError> {
    let trusted = options.trusted.map(|position| position.head);
    if let Some(known) = options.known.or(trusted).filter(|known| known.sequence > 0) {
        return Err(JournalError::Forgotten { known, found: Head::EMPTY });
    }
    match unborn {
        Some(1) => remove(disk.as_ref(), 1)?,
        Some(first) => return Err(first_is_missing(first)),
        None => {}
    }
    let tail = segment::create(disk.as_ref(), Head::EMPTY, options.segment_bytes)?;
    let behind = options.marked.filter(|marked| marked.sequence > 0);
    let opened = JournalOpening { head: Head::EMPTY, cut: None, missed_mark: behind };
    Ok((Journal::at(disk, options, Position::START, tail), opened))
}

/// Returns the start of the verification: the trusted position once it is confirmed, else the first
/// record.
fn start_position(
    disk: &dyn Disk,
    segments: &[u64],
    trusted: Option<Position>,
) -> Result<Position, JournalError> {
    let start = chain_start(disk, segments)?;
    let behind = start.head.sequence;
    let Some(trusted) = trusted.filter(|position| position.head.sequence > behind) else {
        return Ok(start);
    };
    if !segments.contains(&trusted.segment) {
        return Err(JournalError::MissingSegment { expected: trusted.segment, found: None });
    }
    confirm(&Segment::read(disk, trusted.segment)?, trusted)
}

/// Verifies that the record which a position names is still there.
fn confirm(segment: &Segment, trusted: Position) -> Result<Position, JournalError> {
    let begins = to_usize(trusted.begins);
    if let RecordSlot::Record(found) = record::parse_at(&segment.bytes, begins) {
        let head = Head { sequence: found.sequence, hash: found.hash };
        let ends = begins.saturating_add(found.size);
        if head == trusted.head && ends == to_usize(trusted.ends) {
            return Ok(trusted);
        }
    }
    Err(JournalError::Untrusted {
        file: segment.file.clone(),
        offset: trusted.begins,
        sequence: trusted.head.sequence,
    })
}

/// Removes a segment that was never completed, if it is the one that comes next.
fn remove_unfinished(
    disk: &dyn Disk,
    first: u64,
    checked: &WalkResult,
) -> Result<(), JournalError> {
    let file = segment::name(first);
    let expected = next(checked.last.head.sequence)?;
    if checked.torn {
        return Err(JournalError::Damaged {
            file: segment::name(checked.tail.segment),
            offset: checked.tail.offset,
            sequence: expected,
            why: "it cannot be read",
            follows: DamageEvidence::Segment { file },
        });
    }
    if first != expected {
        return Err(JournalError::MissingSegment { expected, found: Some(file) });
    }
    remove(disk, first)
}

fn remove(disk: &dyn Disk, first: u64) -> Result<(), JournalError> {
    let file = segment::name(first);
    disk.remove(&file).map_err(|source| JournalError::io("remove", &file, source))
}

/// Cuts the torn tail and fills its place with zeros again.
fn cut(disk: &dyn Disk, tail: Tail) -> Result<CutTail, JournalError> {
    let segment = segment::name(tail.segment);
    disk.cut(&segment, tail.offset).map_err(|source| JournalError::io("cut", &segment, source))?;
    disk.allocate(&segment, tail.capacity)
        .map_err(|source| JournalError::io("allocate", &segment, source))?;
    let bytes = tail.capacity.saturating_sub(tail.offset);
    Ok(CutTail { segment, offset: tail.offset, bytes })
}
