//! Judges bytes that are no record: a torn tail, or damage.
//!
//! Why it exists: cutting an acknowledged record would forget an effect that may have happened.
//! Refusing a tail that a power failure tore would leave a store that never opens again.
//!
//! The rule: a tail is cut only if no intact record of a higher sequence follows. The one exception
//! is provable: a disk may keep the later sectors of an unfinished write and not the earlier ones.
//! Then the later data belongs to the same batch. A sector that was never written lies between the
//! end of the intact data and this later data, for segments are filled with zeros beforehand. No
//! part of that batch was ever acknowledged.

use super::record;
use super::record::RecordSlot;
use crate::base::fault_injection;
use crate::store::disk::bytes::{bytes_from, is_zero};

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
pub(crate) fn judge(segment: &[u8], offset: usize, expected: u64) -> TailVerdict {
    if is_zero(bytes_from(segment, offset)) {
        return TailVerdict::Clean;
    }
    if fault_injection::is_active("tail-cut-drops-valid") {
        return TailVerdict::Torn;
    }
    let mut first_behind = None;
    let mut at = offset;
    while let Some(place) = record::find_magic(segment, at) {
        at = place.saturating_add(1);
        let RecordSlot::Record(found) = record::parse_at(segment, place) else {
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
