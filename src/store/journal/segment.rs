//! The journal's files, by name and header: segments of records, and the snapshot before them.
//!
//! ```text
//! segment:  magic 8 · version 4 · first sequence 8 · hash before it 32 · crc32 4 · zeros to 64 · records · zeros
//! snapshot: magic 8 · version 4 · fold 4 · sequence 8 · hash it replaces 32 · body length 8 · body hash 32 · crc32 4 · body
//! ```
//!
//! The hash of a snapshot's header is its name in the journal; it fixes the body, too. A journal
//! begins at a snapshot only if its first segment is gone and a segment directly follows it.

use crate::store::disk::traits::{
    Disk, bytes_from, is_zero, open_header, seal_header, to_u64, to_usize,
};
use crate::store::journal::chain::{
    self, HEADER_BYTES, Head, JournalError, JournalResult, Position, RawRecord, RecordSlot, Tail,
    next_sequence,
};

const MAGIC: [u8; 8] = *b"RECKONJ\n";
const VERSION: u32 = 1;
const COVERED_BYTES: usize = 52;
const SUFFIX: &str = ".seg";
const SNAPSHOT_SUFFIX: &str = ".snap";
const DIGITS: usize = 20;

/// A complete segment in memory, its header verified.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) file: String,
    pub(crate) first: u64,
    /// The hash of the record before its first.
    pub(crate) previous: [u8; 32],
    pub(crate) bytes: Vec<u8>,
}

pub(crate) fn segment_name(first: u64) -> String {
    format!("{first:0DIGITS$}{SUFFIX}")
}

/// Lists the first sequences of all segments, in order.
pub(crate) fn list_segments(disk: &dyn Disk) -> JournalResult<Vec<u64>> {
    let names = disk.list().map_err(JournalError::io("list", ""))?;
    let mut firsts = Vec::with_capacity(names.len());
    for file in names {
        match sequence_in(&file, SUFFIX).filter(|first| *first > 0) {
            Some(first) => firsts.push(first),
            None if snapshot_sequence(&file).is_some() => {}
            None => return Err(JournalError::Foreign { file }),
        }
    }
    firsts.sort_unstable();
    Ok(firsts)
}

fn sequence_in(file: &str, suffix: &str) -> Option<u64> {
    let digits = file.strip_suffix(suffix)?;
    let plain = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| plain)
}

pub(crate) fn snapshot_name(sequence: u64) -> String {
    format!("{sequence:0DIGITS$}{SNAPSHOT_SUFFIX}")
}

fn snapshot_sequence(file: &str) -> Option<u64> {
    sequence_in(file, SNAPSHOT_SUFFIX)
}

/// Creates the segment behind `head`, durable before the first record is written to it.
pub(crate) fn create_segment(disk: &dyn Disk, head: Head, capacity: u64) -> JournalResult<Tail> {
    let first = next_sequence(head.sequence)?;
    let file = segment_name(first);
    let io = |doing| JournalError::io(doing, &file);
    let fields: [&[u8]; 4] = [&MAGIC, &VERSION.to_le_bytes(), &first.to_le_bytes(), &head.hash];
    disk.allocate(&file, capacity).map_err(io("allocate"))?;
    disk.write_at(&file, 0, &seal_header(&fields, to_usize(HEADER_BYTES))).map_err(io("write"))?;
    disk.sync(&file).map_err(io("sync"))?;
    Ok(Tail { segment: first, offset: HEADER_BYTES, capacity })
}

impl Segment {
    /// Reads a complete segment and verifies that its header is valid and fits its name.
    pub(crate) fn read(disk: &dyn Disk, first: u64) -> JournalResult<Self> {
        let file = segment_name(first);
        let bytes = read_file(disk, &file)?;
        let wrong = |why| JournalError::Header { file: file.clone(), why };
        let fields = segment_fields(&bytes).ok_or_else(|| wrong("it is damaged"))?;
        if fields.version != VERSION {
            let (found, known) = (fields.version, VERSION);
            return Err(JournalError::Version { file, offset: 0, found, known });
        }
        if fields.first != first {
            return Err(wrong("it belongs to a file of another name"));
        }
        Ok(Self { file, first, previous: fields.previous, bytes })
    }

    /// Returns the records in the segment, each with its end. Their order is not verified.
    pub(crate) fn records(&self) -> impl Iterator<Item = (RawRecord<'_>, usize)> {
        let mut at = to_usize(HEADER_BYTES);
        std::iter::from_fn(move || {
            let RecordSlot::Record(found) = chain::parse_at(&self.bytes, at) else { return None };
            at = at.saturating_add(found.size);
            Some((found, at))
        })
    }

    /// Returns the head before the first record, as the header names it.
    pub(crate) fn head_before(&self) -> Head {
        Head { sequence: self.first.saturating_sub(1), hash: self.previous }
    }

    /// Verifies that this record, at this offset, follows `head`.
    pub(crate) fn check_next(&self, at: usize, found: &RawRecord<'_>, head: Head) -> JournalResult {
        let sequence = next_sequence(head.sequence)?;
        if found.sequence == sequence && found.previous == head.hash && found.batch <= sequence {
            return Ok(());
        }
        Err(JournalError::Chain { file: self.file.clone(), offset: to_u64(at), sequence })
    }

    /// Verifies that this segment continues the chain where `head` ends it.
    pub(crate) fn continues(&self, head: Head) -> JournalResult {
        let expected = next_sequence(head.sequence)?;
        let wrong = |why| JournalError::Header { file: self.file.clone(), why };
        if self.first > expected {
            return Err(JournalError::MissingSegment { expected, found: Some(self.file.clone()) });
        }
        if self.first < expected {
            return Err(wrong("the segment before it holds records of the same sequence"));
        }
        if self.previous != head.hash {
            return Err(wrong("it does not continue the segment before it"));
        }
        Ok(())
    }
}

/// Returns true if a crash interrupted the creation of this segment: no valid header, and nothing
/// behind it. A header is durable before any record is written.
pub(crate) fn is_unfinished(disk: &dyn Disk, first: u64) -> JournalResult<bool> {
    let file = segment_name(first);
    let header =
        disk.read_at(&file, 0, to_usize(HEADER_BYTES)).map_err(JournalError::io("read", &file))?;
    if segment_fields(&header).is_some() {
        return Ok(false);
    }
    Ok(is_zero(bytes_from(&read_file(disk, &file)?, to_usize(HEADER_BYTES))))
}

pub(crate) fn read_file(disk: &dyn Disk, file: &str) -> JournalResult<Vec<u8>> {
    let io = || JournalError::io("read", file);
    let length = disk.len(file).map_err(io())?;
    let bytes = disk.read_at(file, 0, to_usize(length)).map_err(io())?;
    if to_u64(bytes.len()) < length {
        return Err(io()(std::io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(bytes)
}

struct SegmentHeader {
    version: u32,
    first: u64,
    previous: [u8; 32],
}

/// Returns the fields of a header with a valid checksum.
fn segment_fields(bytes: &[u8]) -> Option<SegmentHeader> {
    let mut fields = open_header(bytes, COVERED_BYTES, MAGIC)?;
    Some(SegmentHeader { version: fields.u32()?, first: fields.u64()?, previous: fields.array()? })
}

const SNAPSHOT_MAGIC: [u8; 8] = *b"RECKONS\n";
const SNAPSHOT_VERSION: u32 = 1;
const SNAPSHOT_COVERED_BYTES: usize = 96;
const SNAPSHOT_HEADER_BYTES: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotHeader {
    /// The last record that the snapshot replaces, and its hash.
    pub head: Head,
    pub fold: u32,
    /// The hash by which the journal names the snapshot.
    pub hash: [u8; 32],
    body_bytes: u64,
    body_hash: [u8; 32],
}

impl SnapshotHeader {
    /// Returns the file within `STATE/journal`.
    pub fn file(&self) -> String {
        snapshot_name(self.head.sequence)
    }

    /// Returns the position behind the snapshot at which the journal continues.
    pub(crate) fn position(&self) -> Position {
        let segment = self.head.sequence.saturating_add(1);
        Position { head: self.head, segment, ..Position::START }
    }
}

pub(crate) fn list_snapshots(disk: &dyn Disk) -> JournalResult<Vec<u64>> {
    let names = disk.list().map_err(JournalError::io("list", ""))?;
    let mut all: Vec<u64> = names.iter().filter_map(|file| snapshot_sequence(file)).collect();
    all.sort_unstable();
    Ok(all)
}

/// Returns the oldest snapshot that a segment follows; `None` if the journal begins at record 1.
pub(crate) fn base_snapshot(
    disk: &dyn Disk,
    segments: &[u64],
) -> JournalResult<Option<SnapshotHeader>> {
    if segments.first().is_none_or(|first| *first == 1) {
        return Ok(None);
    }
    let follows = |sequence: &u64| segments.contains(&sequence.saturating_add(1));
    let found = list_snapshots(disk)?.into_iter().find(follows);
    found.map(|sequence| snapshot_header(disk, sequence)).transpose()
}

/// Returns the bytes of a snapshot, and its name in the journal.
pub(crate) fn seal_snapshot(head: Head, fold: u32, body: &[u8]) -> (Vec<u8>, [u8; 32]) {
    let body_hash = blake3::hash(body);
    let fields: [&[u8]; 7] = [
        &SNAPSHOT_MAGIC,
        &SNAPSHOT_VERSION.to_le_bytes(),
        &fold.to_le_bytes(),
        &head.sequence.to_le_bytes(),
        &head.hash,
        &to_u64(body.len()).to_le_bytes(),
        body_hash.as_bytes(),
    ];
    let header = seal_header(&fields, SNAPSHOT_HEADER_BYTES);
    ([&header, body].concat(), blake3::hash(&header).into())
}

pub(crate) fn snapshot_header(disk: &dyn Disk, sequence: u64) -> JournalResult<SnapshotHeader> {
    let file = snapshot_name(sequence);
    let io = || JournalError::io("read", &file);
    let header = disk.read_at(&file, 0, SNAPSHOT_HEADER_BYTES).map_err(io())?;
    let wrong = |why| JournalError::Snapshot { file: file.clone(), why };
    let sealed = snapshot_fields(&header).ok_or_else(|| wrong("its header is damaged"))?;
    if sealed.head.sequence != sequence {
        return Err(wrong("it belongs to a file of another name"));
    }
    Ok(sealed)
}

fn snapshot_fields(header: &[u8]) -> Option<SnapshotHeader> {
    let mut fields = open_header(header, SNAPSHOT_COVERED_BYTES, SNAPSHOT_MAGIC)?;
    if fields.u32()? != SNAPSHOT_VERSION {
        return None;
    }
    let fold = fields.u32()?;
    let head = Head { sequence: fields.u64()?, hash: fields.array()? };
    let (body_bytes, body_hash) = (fields.u64()?, fields.array()?);
    Some(SnapshotHeader { head, fold, hash: blake3::hash(header).into(), body_bytes, body_hash })
}

/// Reads the body of a snapshot and verifies it against its header.
pub(crate) fn snapshot_body(disk: &dyn Disk, sealed: &SnapshotHeader) -> JournalResult<Vec<u8>> {
    let file = snapshot_name(sealed.head.sequence);
    let io = || JournalError::io("read", &file);
    let body = disk
        .read_at(&file, to_u64(SNAPSHOT_HEADER_BYTES), to_usize(sealed.body_bytes))
        .map_err(io())?;
    if to_u64(body.len()) == sealed.body_bytes && blake3::hash(&body) == sealed.body_hash {
        return Ok(body);
    }
    Err(JournalError::Snapshot { file, why: "its content is not what was sealed" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_name_of_twenty_digits_is_a_snapshot_s() {
        assert_eq!(snapshot_sequence(&snapshot_name(7)), Some(7));
        for other in ["7", "x0000000000000000007", "000000000000000000007", "+0000000000000000007"]
        {
            assert_eq!(snapshot_sequence(&format!("{other}{SNAPSHOT_SUFFIX}")), None, "{other}");
        }
        assert_eq!(snapshot_sequence("00000000000000000007"), None);
    }
}
