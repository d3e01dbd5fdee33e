//! Walks the segments and verifies every record against the record before it.
//!
//! A tail that is no record is torn or damaged. Cutting an acknowledged record would forget an effect
//! that may have happened. Refusing a tail that a power failure tore would leave a store that never
//! opens again. So a tail is cut only if no intact record of a higher sequence follows. The one
//! exception is provable: a disk may keep the later sectors of an unfinished write and not the
//! earlier ones. Then the later data belongs to the same batch. A sector that was never written lies
//! between the end of the intact data and this later data, for segments are filled with zeros
//! beforehand. No part of that batch was ever acknowledged.

use crate::base::fault_injection;
use crate::store::disk::traits::{Disk, bytes_from, is_zero, to_u64, to_usize};
use crate::store::journal::chain::{
    DamageEvidence, HEADER_BYTES, Head, JournalError, JournalResult, Position, RawRecord,
    RecordSlot, Tail, next_sequence,
};
use crate::store::journal::segment::Segment;
use crate::store::journal::{chain, segment};

#[derive(Debug)]
pub(crate) struct WalkResult {
    pub(crate) last: Position,
    /// Position of the next record: segment, offset and length of the file.
    pub(crate) tail: Tail,
    /// True if bytes that were never acknowledged follow the last record.
    pub(crate) torn: bool,
    /// True if the chain does not run through the marked head.
    pub(crate) misses_mark: bool,
}

impl WalkResult {
    /// Returns the error for the record of this sequence, which the tail should hold.
    pub(crate) fn damaged_tail(
        &self,
        sequence: u64,
        why: &'static str,
        follows: DamageEvidence,
    ) -> JournalError {
        let (file, offset) = (segment::segment_name(self.tail.segment), self.tail.offset);
        JournalError::Damaged { file, offset, sequence, why, follows }
    }
}

/// Heads that were durable before.
#[derive(Debug)]
pub(crate) struct Anchors {
    /// The chain must run through this head.
    known: Option<Head>,
    /// The chain should run through this head; if it does not, nothing is cut.
    marked: Option<Head>,
    misses_mark: bool,
}

impl Anchors {
    pub(crate) fn new(known: Option<Head>, marked: Option<Head>) -> Self {
        Self { known, marked, misses_mark: false }
    }

    /// Notes if this record differs from the marked one of the same sequence.
    fn compare(&mut self, head: Head) {
        let other = |marked: Head| marked.sequence == head.sequence && marked != head;
        self.misses_mark |= self.marked.is_some_and(other);
    }
}

/// Walks the given segments from `start` to the end.
///
/// A torn tail before the marked head was acknowledged, so it is damage.
pub(crate) fn check(
    disk: &dyn Disk,
    segments: &[u64],
    start: Position,
    mut anchors: Anchors,
) -> JournalResult<WalkResult> {
    let mut last = start;
    anchors.compare(start.head);
    let mut state = None;
    let mut ahead = segments.iter().copied().filter(|first| *first >= start.segment).peekable();
    while let Some(first) = ahead.next() {
        let segment = Segment::read(disk, first)?;
        let offset = enter(&segment, &start, last.head)?;
        let stop = walk(&segment, offset, &mut last, &mut anchors)?;
        let torn = judge(&segment, &stop, last.head, ahead.peek().copied())?;
        let capacity = to_u64(segment.bytes.len());
        state = Some((Tail { segment: first, offset: to_u64(stop.offset), capacity }, torn));
    }
    let missing = || JournalError::MissingSegment { expected: start.segment, found: None };
    let (tail, torn) = state.ok_or_else(missing)?;
    let is_lost = |head: &Head| head.sequence > last.head.sequence;
    let short = anchors.marked.filter(is_lost);
    let strays = anchors.misses_mark || short.is_some();
    let checked = WalkResult { last, tail, torn, misses_mark: strays };
    if let Some(short) = short.filter(|_| torn) {
        return Err(lost_head_error(&checked, short));
    }
    match anchors.known.filter(is_lost) {
        Some(known) => Err(lost_head_error(&checked, known)),
        None => Ok(checked),
    }
}

/// Returns where a walk enters a segment: behind the trusted record, or behind a fitting header.
fn enter(segment: &Segment, start: &Position, head: Head) -> JournalResult<usize> {
    if segment.first == start.segment && start.ends > HEADER_BYTES {
        return Ok(to_usize(start.ends));
    }
    segment.continues(head)?;
    Ok(to_usize(HEADER_BYTES))
}

/// End of a segment's records, with the reason if something else follows.
struct WalkEnd {
    offset: usize,
    why: &'static str,
}

fn walk(
    segment: &Segment,
    offset: usize,
    last: &mut Position,
    anchors: &mut Anchors,
) -> JournalResult<WalkEnd> {
    let mut at = offset;
    loop {
        match chain::parse_at(&segment.bytes, at) {
            RecordSlot::Record(found) => at = step(segment, at, &found, last, anchors)?,
            RecordSlot::End => {
                return Ok(WalkEnd { offset: at, why: "there are zeros in its place" });
            }
            RecordSlot::Invalid(why) => return Ok(WalkEnd { offset: at, why }),
            RecordSlot::UnknownVersion(found) => return Err(version_error(segment, at, found)),
        }
    }
}

fn step(
    segment: &Segment,
    at: usize,
    found: &RawRecord<'_>,
    last: &mut Position,
    anchors: &mut Anchors,
) -> JournalResult<usize> {
    segment.check_next(at, found, last.head)?;
    let head = found.head();
    anchors.compare(head);
    if let Some(known) =
        anchors.known.filter(|known| known.sequence == head.sequence && *known != head)
    {
        return Err(JournalError::Forgotten { known, found: head });
    }
    let end = at.saturating_add(found.size);
    *last = Position { head, segment: segment.first, begins: to_u64(at), ends: to_u64(end) };
    Ok(end)
}

pub(crate) fn version_error(segment: &Segment, at: usize, found: u8) -> JournalError {
    let (file, offset) = (segment.file.clone(), to_u64(at));
    let (found, known) = (u32::from(found), u32::from(chain::VERSION));
    JournalError::Version { file, offset, found, known }
}

/// Returns true if the tail is torn; a damaged one is an error.
fn judge(segment: &Segment, stop: &WalkEnd, head: Head, next: Option<u64>) -> JournalResult<bool> {
    let sequence = next_sequence(head.sequence)?;
    let follows = match next {
        Some(_) if is_zero(bytes_from(&segment.bytes, stop.offset)) => return Ok(false),
        Some(first) => DamageEvidence::Segment { file: segment::segment_name(first) },
        None => match judge_tail(&segment.bytes, stop.offset, sequence) {
            TailVerdict::Clean => return Ok(false),
            TailVerdict::Torn => return Ok(true),
            TailVerdict::Damaged { sequence, offset } => {
                DamageEvidence::Record { sequence, offset: to_u64(offset) }
            }
        },
    };
    let (file, offset, why) = (segment.file.clone(), to_u64(stop.offset), stop.why);
    Err(JournalError::Damaged { file, offset, sequence, why, follows })
}

/// Returns the error for a journal that ends before a head that was durable.
fn lost_head_error(checked: &WalkResult, known: Head) -> JournalError {
    if !checked.torn {
        return JournalError::Forgotten { known, found: checked.last.head };
    }
    let expected = checked.last.head.sequence.saturating_add(1);
    checked.damaged_tail(expected, "it cannot be read", DamageEvidence::Acknowledged)
}

/// Returns the start of the chain on this disk: the first record, or behind a snapshot.
pub(crate) fn chain_start(disk: &dyn Disk, segments: &[u64]) -> JournalResult<Position> {
    match (segment::base_snapshot(disk, segments)?, segments.first()) {
        (Some(base), _) => Ok(base.position()),
        (None, Some(found)) if *found != 1 => Err(first_is_missing(*found)),
        (None, Some(_) | None) => Ok(Position::START),
    }
}

pub(crate) fn first_is_missing(found: u64) -> JournalError {
    JournalError::MissingSegment { expected: 1, found: Some(segment::segment_name(found)) }
}

/// The smallest unit that a disk writes as a whole, in bytes.
const SECTOR_BYTES: usize = 512;

/// Content behind the last intact record of the last segment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TailVerdict {
    /// Zeros only.
    Clean,
    /// The rest of a write that was never acknowledged.
    Torn,
    /// Data that was once intact, since this record follows.
    Damaged { sequence: u64, offset: usize },
}

/// Judges the bytes from `offset` on, where the record `expected` should be.
pub(crate) fn judge_tail(segment: &[u8], offset: usize, expected: u64) -> TailVerdict {
    if is_zero(bytes_from(segment, offset)) {
        return TailVerdict::Clean;
    }
    if fault_injection::is_active("tail-cut-drops-valid") {
        return TailVerdict::Torn;
    }
    let mut first_behind = None;
    let mut at = offset;
    while let Some(place) = chain::find_magic(segment, at) {
        at = place.saturating_add(1);
        let RecordSlot::Record(found) = chain::parse_at(segment, place) else {
            continue;
        };
        if found.sequence < expected {
            continue;
        }
        if found.batch > expected {
            return TailVerdict::Damaged { sequence: found.sequence, offset: place };
        }
        first_behind = first_behind.or(Some((found.sequence, place)));
        at = place.saturating_add(found.size);
    }
    match first_behind {
        None => TailVerdict::Torn,
        Some((_, place)) if has_unwritten_sector(segment, offset, place) => TailVerdict::Torn,
        Some((sequence, place)) => TailVerdict::Damaged { sequence, offset: place },
    }
}

/// Returns true if a sector that begins in `start..end`, or the rest of the sector that contains
/// `start`, is all zeros and ends before `end`.
fn has_unwritten_sector(segment: &[u8], start: usize, end: usize) -> bool {
    let mut from = start;
    while let Some(to) = from
        .checked_div(SECTOR_BYTES)
        .and_then(|sector| sector.checked_add(1)?.checked_mul(SECTOR_BYTES))
        .filter(|to| *to <= end)
    {
        if segment.get(from..to).is_some_and(is_zero) {
            return true;
        }
        from = to;
    }
    false
}
