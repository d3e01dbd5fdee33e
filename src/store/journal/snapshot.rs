//! A snapshot: the state after a record, sealed, in place of the records up to it.
//!
//! ```text
//! magic 8 · version 4 · fold 4 · sequence 8 · hash it replaces 32 · body length 8 · body hash 32 · crc32 4 · body
//! ```
//!
//! The hash of the header is the snapshot's name in the journal; it fixes the body, too. A journal
//! begins at a snapshot only if its first segment is gone and a segment follows the snapshot
//! directly.

use super::chain::{Head, JournalError, Position};
use super::segment;
use crate::store::disk::bytes::{ByteReader, bytes_from, to_u64, to_usize};
use crate::store::disk::traits::Disk;

const MAGIC: [u8; 8] = *b"RECKONS\n";
const VERSION: u32 = 1;
const COVERED_BYTES: usize = 96;
const HEADER_BYTES: usize = 100;

/// The header of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotHeader {
    /// The last record that the snapshot replaces, and its hash.
    pub head: Head,
    /// The version of the fold that made the snapshot.
    pub fold: u32,
    /// The hash by which the journal names the snapshot.
    pub hash: [u8; 32],
    body_bytes: u64,
    body_hash: [u8; 32],
}

impl SnapshotHeader {
    /// Returns the file within `STATE/journal`.
    pub fn file(&self) -> String {
        Self::file_behind(self.head)
    }

    /// Returns the file of a snapshot behind this record.
    pub fn file_behind(head: Head) -> String {
        segment::snapshot_name(head.sequence)
    }

    /// Returns the position behind the snapshot at which the journal continues.
    pub(crate) fn position(&self) -> Position {
        let segment = self.head.sequence.saturating_add(1);
        Position { head: self.head, segment, ..Position::START }
    }
}

/// Lists the sequences of all snapshots, ascending.
pub(crate) fn list(disk: &dyn Disk) -> Result<Vec<u64>, JournalError> {
    let names = disk.list().map_err(|source| JournalError::io("list", "", source))?;
    let mut all: Vec<u64> =
        names.iter().filter_map(|file| segment::snapshot_sequence(file)).collect();
    all.sort_unstable();
    Ok(all)
}

/// Returns the snapshot at which the journal begins: the oldest one that a segment follows; `None`
/// if the journal begins at its first record.
pub(crate) fn base(
    disk: &dyn Disk,
    segments: &[u64],
) -> Result<Option<SnapshotHeader>, JournalError> {
    if segments.first().is_none_or(|first| *first == 1) {
        return Ok(None);
    }
    let follows = |sequence: &u64| segments.contains(&sequence.saturating_add(1));
    match list(disk)?.into_iter().find(follows) {
        Some(sequence) => read_header(disk, sequence).map(Some),
        None => Ok(None),
    }
}

/// Returns the bytes of a snapshot, and its name in the journal.
pub(crate) fn seal(head: Head, fold: u32, body: &[u8]) -> (Vec<u8>, [u8; 32]) {
    let mut file = Vec::with_capacity(HEADER_BYTES.saturating_add(body.len()));
    file.extend_from_slice(&MAGIC);
    file.extend_from_slice(&VERSION.to_le_bytes());
    file.extend_from_slice(&fold.to_le_bytes());
    file.extend_from_slice(&head.sequence.to_le_bytes());
    file.extend_from_slice(&head.hash);
    file.extend_from_slice(&to_u64(body.len()).to_le_bytes());
    file.extend_from_slice(blake3::hash(body).as_bytes());
    file.extend_from_slice(&crc32fast::hash(&file).to_le_bytes());
    let hash = blake3::hash(&file).into();
    file.extend_from_slice(body);
    (file, hash)
}

/// Reads the header of a snapshot.
pub(crate) fn read_header(disk: &dyn Disk, sequence: u64) -> Result<SnapshotHeader, JournalError> {
    let file = segment::snapshot_name(sequence);
    let io = |source| JournalError::io("read", &file, source);
    let header = disk.read_at(&file, 0, HEADER_BYTES).map_err(io)?;
    let wrong = |why| JournalError::Snapshot { file: file.clone(), why };
    let sealed = fields(&header).ok_or_else(|| wrong("its header is damaged"))?;
    if sealed.head.sequence != sequence {
        return Err(wrong("it belongs to a file of another name"));
    }
    Ok(sealed)
}

fn fields(header: &[u8]) -> Option<SnapshotHeader> {
    let covered = header.get(..COVERED_BYTES)?;
    let crc = ByteReader::new(bytes_from(header, COVERED_BYTES)).u32()?;
    let mut fields = ByteReader::new(covered);
    if fields.array()? != MAGIC || fields.u32()? != VERSION || crc32fast::hash(covered) != crc {
        return None;
    }
    let fold = fields.u32()?;
    let head = Head { sequence: fields.u64()?, hash: fields.array()? };
    let (body_bytes, body_hash) = (fields.u64()?, fields.array()?);
    Some(SnapshotHeader { head, fold, hash: blake3::hash(header).into(), body_bytes, body_hash })
}

/// Reads the body of a snapshot and verifies it against its header.
pub(crate) fn body(disk: &dyn Disk, sealed: &SnapshotHeader) -> Result<Vec<u8>, JournalError> {
    let file = segment::snapshot_name(sealed.head.sequence);
    let io = |source| JournalError::io("read", &file, source);
    let body =
        disk.read_at(&file, to_u64(HEADER_BYTES), to_usize(sealed.body_bytes)).map_err(io)?;
    if to_u64(body.len()) == sealed.body_bytes && blake3::hash(&body) == sealed.body_hash {
        return Ok(body);
    }
    Err(JournalError::Snapshot { file, why: "its content is not what was sealed" })
}

/// Returns the segments that a snapshot replaces, ascending.
pub(crate) fn replaced_segments(
    disk: &dyn Disk,
    sealed: &SnapshotHeader,
) -> Result<Vec<u64>, JournalError> {
    let mut segments = segment::list(disk)?;
    segments.retain(|first| *first <= sealed.head.sequence);
    Ok(segments)
}
