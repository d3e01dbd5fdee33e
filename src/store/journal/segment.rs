//! One segment file: its name, its header, its bytes.
//!
//! ```text
//! magic 8 · version 4 · first sequence 8 · hash before it 32 · crc32 4 · zeros to 64 · records · zeros
//! ```

use super::chain::{HEADER_BYTES, Head, JournalError, Tail, next};
use super::record;
use super::record::RecordSlot;
use crate::store::disk::bytes::{ByteReader, bytes_from, is_zero, to_u64, to_usize};
use crate::store::disk::traits::Disk;

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

/// Returns the name of the segment that begins with this sequence.
pub(crate) fn name(first: u64) -> String {
    format!("{first:0DIGITS$}{SUFFIX}")
}

/// Lists the first sequences of all segments, in order.
pub(crate) fn list(disk: &dyn Disk) -> Result<Vec<u64>, JournalError> {
    let names = disk.list().map_err(|source| JournalError::io("list", "", source))?;
    let mut firsts = Vec::with_capacity(names.len());
    for file in names {
        match parse(&file) {
            Some(first) => firsts.push(first),
            None if snapshot_sequence(&file).is_some() => {}
            None => return Err(JournalError::Foreign { file }),
        }
    }
    firsts.sort_unstable();
    Ok(firsts)
}

fn parse(file: &str) -> Option<u64> {
    let digits = file.strip_suffix(SUFFIX)?;
    let plain = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    let first = digits.parse().ok().filter(|first| *first > 0)?;
    plain.then_some(first)
}

/// Returns the file of the snapshot behind a record.
pub(crate) fn snapshot_name(sequence: u64) -> String {
    format!("{sequence:0DIGITS$}{SNAPSHOT_SUFFIX}")
}

/// Parses the sequence in the name of a snapshot.
pub(crate) fn snapshot_sequence(file: &str) -> Option<u64> {
    let digits = file.strip_suffix(SNAPSHOT_SUFFIX)?;
    let plain = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| plain)
}

/// Creates the segment behind `head`, durable before the first record is written to it.
pub(crate) fn create(disk: &dyn Disk, head: Head, capacity: u64) -> Result<Tail, JournalError> {
    let first = next(head.sequence)?;
    let file = name(first);
    let io = |doing| {
        let file = &file;
        move |source| JournalError::io(doing, file, source)
    };
    disk.allocate(&file, capacity).map_err(io("allocate"))?;
    disk.write_at(&file, 0, &header(first, &head.hash)).map_err(io("write"))?;
    disk.sync(&file).map_err(io("sync"))?;
    Ok(Tail { segment: first, offset: HEADER_BYTES, capacity })
}

fn header(first: u64, previous: &[u8; 32]) -> Vec<u8> {
    let mut header = Vec::with_capacity(to_usize(HEADER_BYTES));
    header.extend_from_slice(&MAGIC);
    header.extend_from_slice(&VERSION.to_le_bytes());
    header.extend_from_slice(&first.to_le_bytes());
    header.extend_from_slice(previous);
    header.extend_from_slice(&crc32fast::hash(&header).to_le_bytes());
    header.resize(to_usize(HEADER_BYTES), 0);
    header
}

impl Segment {
    /// Reads a complete segment and verifies that its header is valid and fits its name.
    pub(crate) fn read(disk: &dyn Disk, first: u64) -> Result<Self, JournalError> {
        let file = name(first);
        let bytes = read_all(disk, &file)?;
        let wrong = |why| JournalError::Header { file: file.clone(), why };
        let fields = fields(&bytes).ok_or_else(|| wrong("it is damaged"))?;
        if fields.version != VERSION {
            let (found, known) = (fields.version, VERSION);
            return Err(JournalError::Version { file, offset: 0, found, known });
        }
        if fields.first != first {
            return Err(wrong("it belongs to a file of another name"));
        }
        Ok(Self { file, first, previous: fields.previous, bytes })
    }

    /// Verifies that this segment continues the chain where `head` ends it.
    pub(crate) fn continues(&self, head: Head) -> Result<(), JournalError> {
        let expected = next(head.sequence)?;
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

/// Returns the last record of a segment that no process writes to.
pub(crate) fn last_sequence(segment: &Segment) -> u64 {
    let mut at = to_usize(HEADER_BYTES);
    let mut last = segment.first.saturating_sub(1);
    while let RecordSlot::Record(found) = record::parse_at(&segment.bytes, at) {
        at = at.saturating_add(found.size);
        last = found.sequence;
    }
    last
}

/// Returns true if a crash interrupted the creation of this segment: no valid header, and nothing
/// behind it. A header is durable before any record is written.
pub(crate) fn is_unfinished(disk: &dyn Disk, first: u64) -> Result<bool, JournalError> {
    let file = name(first);
    let header = disk
        .read_at(&file, 0, to_usize(HEADER_BYTES))
        .map_err(|source| JournalError::io("read", &file, source))?;
    if fields(&header).is_some() {
        return Ok(false);
    }
    let bytes = read_all(disk, &file)?;
    Ok(is_zero(bytes_from(&bytes, to_usize(HEADER_BYTES))))
}

fn read_all(disk: &dyn Disk, file: &str) -> Result<Vec<u8>, JournalError> {
    let io = |source| JournalError::io("read", file, source);
    let length = disk.len(file).map_err(io)?;
    let bytes = disk.read_at(file, 0, to_usize(length)).map_err(io)?;
    if to_u64(bytes.len()) < length {
        return Err(io(std::io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(bytes)
}

struct SegmentHeader {
    version: u32,
    first: u64,
    previous: [u8; 32],
}

/// Returns the fields of a header with a valid checksum.
fn fields(bytes: &[u8]) -> Option<SegmentHeader> {
    let covered = bytes.get(..COVERED_BYTES)?;
    let crc = ByteReader::new(bytes_from(bytes, COVERED_BYTES)).u32()?;
    let mut fields = ByteReader::new(covered);
    if fields.array()? != MAGIC || crc32fast::hash(covered) != crc {
        return None;
    }
    Some(SegmentHeader { version: fields.u32()?, first: fields.u64()?, previous: fields.array()? })
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
