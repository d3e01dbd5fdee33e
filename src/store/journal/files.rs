//! Files of the journal as a whole: compaction, where a snapshot replaces the records up to it, and
//! the extent that a copy needs.
//!
//! Guarantees: at every moment either all segments from the first on exist, or a durable snapshot
//! that a durable record names. The order is:
//!
//! 1. A new segment.
//! 2. The snapshot of the state before it.
//! 3. A record that names the snapshot.
//! 4. Only then the removal of the old segments, oldest first.
//!
//! Others may append meanwhile, so the record that names the snapshot need not be the first behind
//! it.

use super::chain::{HEADER_BYTES, Head, JournalError};
use super::log::Journal;
use super::read::JournalReader;
use super::record::RecordSlot;
use super::segment::Segment;
use super::{record, segment, snapshot};
use crate::store::disk::bytes::{to_u64, to_usize};
use crate::store::disk::traits::Disk;

impl Journal {
    /// Returns the snapshot behind which the chain on this disk begins.
    pub fn base(&self) -> Result<Option<snapshot::SnapshotHeader>, JournalError> {
        self.reader().base()
    }

    /// Ends the segment in use and returns the last durable record. A snapshot can replace the
    /// records up to it. Everything written must be durable.
    pub fn end_segment(&mut self) -> Result<Head, JournalError> {
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
) -> Result<[u8; 32], JournalError> {
    let base = snapshot::base(disk, &segment::list(disk)?)?.map_or(0, |base| base.head.sequence);
    for leftover in snapshot::list(disk)?.into_iter().filter(|leftover| *leftover != base) {
        remove(disk, &segment::snapshot_name(leftover))?;
    }
    let (bytes, hash) = snapshot::seal(head, fold, body);
    let file = segment::snapshot_name(head.sequence);
    disk.replace(&file, &bytes).map_err(|source| JournalError::io("write", &file, source))?;
    Ok(hash)
}

/// Archives the segments that the snapshot behind `head` replaces, or drops them if there is no
/// archive. Returns their number. The record that names the snapshot must be durable.
pub fn archive_segments(
    disk: &dyn Disk,
    head: Head,
    archive: Option<&dyn Disk>,
) -> Result<usize, JournalError> {
    let sealed = snapshot::read_header(disk, head.sequence)?;
    for older in snapshot::list(disk)?.into_iter().filter(|older| *older < head.sequence) {
        remove(disk, &segment::snapshot_name(older))?;
    }
    let replaced = snapshot::replaced_segments(disk, &sealed)?;
    for first in &replaced {
        let file = segment::name(*first);
        if let Some(archive) = archive {
            let bytes = read_whole(disk, &file)?;
            let kept = archive.replace(&file, &bytes);
            kept.map_err(|source| JournalError::io("archive", &file, source))?;
        }
        remove(disk, &file)?;
    }
    Ok(replaced.len())
}

impl JournalReader {
    /// Returns the first sequences of the segments on this disk, ascending.
    pub fn segments(&self) -> Result<Vec<u64>, JournalError> {
        segment::list(self.disk())
    }

    /// Passes the bytes of every file to `show`, one after the other: records and snapshots as they
    /// are on the disk.
    pub fn each_file(&self, mut show: impl FnMut(&[u8])) -> Result<(), JournalError> {
        let mut files: Vec<String> = self.segments()?.into_iter().map(segment::name).collect();
        files.extend(snapshot::list(self.disk())?.into_iter().map(segment::snapshot_name));
        files.iter().try_for_each(|file| read_whole(self.disk(), file).map(|bytes| show(&bytes)))
    }
}

/// Removes a segment that no reader needs any more, durably.
pub fn remove_segment(disk: &dyn Disk, first: u64) -> Result<(), JournalError> {
    remove(disk, &segment::name(first))
}

fn read_whole(disk: &dyn Disk, file: &str) -> Result<Vec<u8>, JournalError> {
    let io = |source| JournalError::io("read", file, source);
    let length = disk.len(file).map_err(io)?;
    disk.read_at(file, 0, to_usize(length)).map_err(io)
}

fn remove(disk: &dyn Disk, file: &str) -> Result<(), JournalError> {
    disk.remove(file).map_err(|source| JournalError::io("remove", file, source))
}

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
    let mut at = to_usize(HEADER_BYTES);
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
