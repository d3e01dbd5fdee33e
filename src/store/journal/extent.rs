//! Files and lengths that hold the journal up to a head, as a copy needs them.

use super::error::JournalError;
use super::log::Head;
use super::record::RecordSlot;
use super::segment::{HEADER_BYTES, Segment};
use super::{record, segment, snapshot};
use crate::store::disk::bytes::to_u64;
use crate::store::disk::traits::Disk;

/// Returns the files of the journal up to this head, in order, with the number of bytes needed of
/// each.
///
/// Complete segments are not read. The last one is read up to the head, which must be in it;
/// records that others append meanwhile are left out.
pub fn extent(disk: &dyn Disk, head: Head) -> Result<Vec<(String, u64)>, JournalError> {
    let firsts = segment::list(disk)?;
    let mut files = Vec::new();
    let base = snapshot::base(disk, &firsts)?;
    if let Some(base) = &base {
        let file = base.file();
        let bytes = disk.len(&file).map_err(|source| JournalError::io("read", &file, source))?;
        files.push((file, bytes));
    }
    let begins = base.map_or(0, |base| base.head.sequence);
    let mut last = None;
    for first in firsts
        .into_iter()
        .filter(|first| (begins..=head.sequence).contains(first) && *first > begins)
    {
        if let Some(full) = last.replace(first) {
            files.push(whole_segment(disk, full)?);
        }
    }
    let last = last.ok_or(JournalError::MissingSegment { expected: head.sequence, found: None })?;
    files.push((segment::name(last), end_of(&Segment::read(disk, last)?, head)?));
    Ok(files)
}

fn whole_segment(disk: &dyn Disk, first: u64) -> Result<(String, u64), JournalError> {
    let file = segment::name(first);
    let bytes = disk.len(&file).map_err(|source| JournalError::io("read", &file, source))?;
    Ok((file, bytes))
}

/// Returns the end of the head's record.
fn end_of(segment: &Segment, head: Head) -> Result<u64, JournalError> {
    let mut at = crate::store::disk::bytes::to_usize(HEADER_BYTES);
    let mut found_at_most =
        Head { sequence: segment.first.saturating_sub(1), hash: segment.previous };
    while let RecordSlot::Record(found) = record::parse_at(&segment.bytes, at) {
        at = at.saturating_add(found.size);
        found_at_most = Head { sequence: found.sequence, hash: found.hash };
        if found.sequence == head.sequence {
            break;
        }
    }
    if found_at_most == head {
        return Ok(to_u64(at));
    }
    Err(JournalError::Forgotten { known: head, found: found_at_most })
}
