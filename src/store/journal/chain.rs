//! The chain of records: positions in it, the errors that break it (each case has its own variant,
//! with the place and the remedy), and one record on disk.
//!
//! ```text
//! magic 4 · crc32 4 · length 4 · version 1 · sequence 8 · batch 8 · previous hash 32 · body
//! ```
//!
//! The checksum covers everything behind itself. The length counts everything behind itself. The
//! hash (BLAKE3) covers version to body, so it fixes the whole history. `batch` is the sequence of
//! the first record that was written together with this one: nothing of a batch is acknowledged
//! before all of it is durable. Zeros where a record could begin are the end.

use std::io;

use serde::{Deserialize, Serialize};

use crate::store::disk::traits::{
    ByteReader, bytes_from, frame_checksum, is_zero, push_frame, to_usize,
};

pub(crate) const HEADER_BYTES: u64 = 64;

/// Error of opening, reading or writing the journal.
///
/// Files are named within `STATE/journal`; offsets are bytes from the start of the file.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("{doing} journal/{file}: {source}")]
    Io {
        doing: &'static str,
        /// The file; empty for the directory itself.
        file: String,
        source: io::Error,
    },
    /// The mark outside the state directory cannot be written; the journal accepts nothing more.
    #[error("{doing} the mark of the state: {source}")]
    Mark { doing: &'static str, source: io::Error },
    #[error("read the journal: journal/{file} is not a segment; move it out of the directory")]
    Foreign { file: String },
    #[error(
        "read the journal: the records from {expected} on are in no file ({}); a segment was lost: \
         restore the state directory from a backup",
        .found.as_ref().map_or_else(|| "nothing follows".to_owned(), |file| format!("journal/{file} follows"))
    )]
    MissingSegment { expected: u64, found: Option<String> },
    /// The header of a segment is damaged, or does not fit its place.
    #[error("read the header of journal/{file}: {why}; restore the state directory from a backup")]
    Header { file: String, why: &'static str },
    /// A snapshot cannot replace the records before it.
    #[error(
        "read journal/{file}: {why}; restore a backup, or move the segments that the compaction put \
         aside in archive/ back to journal/ and this file away"
    )]
    Snapshot { file: String, why: &'static str },
    #[error(
        "read journal/{file} at byte {offset}: it has format version {found}, this program knows \
         up to {known}; use the newer program that wrote it"
    )]
    Version { file: String, offset: u64, found: u32, known: u32 },
    /// A record is damaged, and the data behind it proves that the record was once intact.
    #[error(
        "read journal/{file} at byte {offset}: record {sequence} is damaged ({why}), but {follows}, \
         so this is not a torn tail and nothing was cut; restore the state directory from a backup"
    )]
    Damaged { file: String, offset: u64, sequence: u64, why: &'static str, follows: DamageEvidence },
    #[error(
        "read journal/{file} at byte {offset}: the record that should be {sequence} does not \
         continue the one before it; the journal was edited or files were mixed: restore the state \
         directory from a backup"
    )]
    Chain { file: String, offset: u64, sequence: u64 },
    #[error(
        "open the journal: record {} was acknowledged before, but the journal ends at {} or holds \
         another history; restore the newest state directory",
        .known.sequence, .found.sequence
    )]
    Forgotten { known: Head, found: Head },
    #[error(
        "open the journal from record {sequence}: journal/{file} at byte {offset} holds something \
         else; check the journal from its beginning"
    )]
    Untrusted { file: String, offset: u64, sequence: u64 },
    /// A body is too large for one record; nothing was written.
    #[error("append {bytes} bytes: one record holds at most {limit}")]
    TooLarge { bytes: usize, limit: usize },
    #[error("append to the journal: an earlier write failed ({cause}); stop and open it again")]
    Poisoned { cause: String },
    #[error("append to the journal: there is no sequence left")]
    Full,
}

pub type JournalResult<T = ()> = Result<T, JournalError>;

impl JournalError {
    pub(crate) fn io(doing: &'static str, file: &str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, file: file.to_owned(), source }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DamageEvidence {
    /// An intact record in the same file.
    #[error("record {sequence} follows at byte {offset}")]
    Record { sequence: u64, offset: u64 },
    /// A later segment; segments are created only after the former one is durable.
    #[error("journal/{file} follows")]
    Segment { file: String },
    /// No data on disk, but the record was already acknowledged to its writer.
    #[error("it was acknowledged before")]
    Acknowledged,
}

/// The last record of a chain, which fixes the whole history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The sequence of the last record; 0 before the first.
    pub sequence: u64,
    /// The hash of the last record; zeros before the first.
    pub hash: [u8; 32],
}

impl Head {
    pub const EMPTY: Self = Self { sequence: 0, hash: [0; 32] };
}

/// Position of a head's record, so that opening can start there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    pub head: Head,
    /// The segment that holds the record, by its first sequence.
    pub segment: u64,
    /// Start of the record, in bytes from the start of the segment.
    pub begins: u64,
    /// End of the record and start of the next one.
    pub ends: u64,
}

impl Position {
    /// The position before the first record of the first segment.
    pub const START: Self =
        Self { head: Head::EMPTY, segment: 1, begins: HEADER_BYTES, ends: HEADER_BYTES };
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Tail {
    pub(crate) segment: u64,
    pub(crate) offset: u64,
    pub(crate) capacity: u64,
}

impl Tail {
    pub(super) fn free_bytes(&self) -> usize {
        to_usize(self.capacity.saturating_sub(self.offset))
    }
}

pub(crate) fn next_sequence(sequence: u64) -> JournalResult<u64> {
    sequence.checked_add(1).ok_or(JournalError::Full)
}

const MAGIC: [u8; 4] = *b"RkJ1";
pub(super) const VERSION: u8 = 1;
/// Magic, checksum and length.
const PREFIX_BYTES: usize = 12;
/// Version, sequence, batch and previous hash.
const FIXED_BYTES: usize = 49;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalRecord {
    /// The position in the journal, from 1.
    pub sequence: u64,
    /// The hash that the next record names.
    pub hash: [u8; 32],
    pub body: Vec<u8>,
}

impl JournalRecord {
    pub(crate) fn head(&self) -> Head {
        Head { sequence: self.sequence, hash: self.hash }
    }
}

/// A record with a valid checksum, still in its segment.
#[derive(Debug)]
pub(crate) struct RawRecord<'a> {
    pub(crate) sequence: u64,
    pub(crate) batch: u64,
    pub(crate) previous: [u8; 32],
    pub(crate) hash: [u8; 32],
    pub(crate) body: &'a [u8],
    pub(crate) size: usize,
}

impl RawRecord<'_> {
    pub(crate) fn head(&self) -> Head {
        Head { sequence: self.sequence, hash: self.hash }
    }
}

#[derive(Debug)]
pub(crate) enum RecordSlot<'a> {
    Record(RawRecord<'a>),
    /// Zeros, or no room for a record: the end of the written data.
    End,
    /// Intact, but of a version that this program does not know.
    UnknownVersion(u8),
    Invalid(&'static str),
}

pub(crate) fn record_size(body: usize) -> usize {
    PREFIX_BYTES.saturating_add(FIXED_BYTES).saturating_add(body)
}

/// Appends one record to `out` and returns its hash.
///
/// The body is at most [`super::log::BODY_BYTES_MAX`], so its length fits the field.
pub(crate) fn encode_record(
    out: &mut Vec<u8>,
    sequence: u64,
    batch: u64,
    previous: &[u8; 32],
    body: &[u8],
) -> [u8; 32] {
    let (number, batch) = (sequence.to_le_bytes(), batch.to_le_bytes());
    let covered = [&[VERSION][..], &number, &batch, previous, body].concat();
    push_frame(out, MAGIC, &covered);
    blake3::hash(&covered).into()
}

pub(crate) fn parse_at(segment: &[u8], offset: usize) -> RecordSlot<'_> {
    let bytes = bytes_from(segment, offset);
    if is_zero(bytes.get(..PREFIX_BYTES).unwrap_or(bytes)) {
        return RecordSlot::End;
    }
    read_record(bytes).unwrap_or(RecordSlot::Invalid("it ends behind the end of the file"))
}

/// Reads a record; `None` if the bytes end too early.
fn read_record(bytes: &[u8]) -> Option<RecordSlot<'_>> {
    let mut fields = ByteReader::new(bytes);
    if fields.array()? != MAGIC {
        return Some(RecordSlot::Invalid("it does not begin like a record"));
    }
    let crc = fields.u32()?;
    let length = fields.u32()?;
    let covered = fields.take(usize::try_from(length).ok()?)?;
    if frame_checksum(length.to_le_bytes(), covered) != crc {
        return Some(RecordSlot::Invalid("its checksum does not match"));
    }
    let mut fields = ByteReader::new(covered);
    let version = fields.u8()?;
    if version != VERSION {
        return Some(RecordSlot::UnknownVersion(version));
    }
    Some(RecordSlot::Record(RawRecord {
        sequence: fields.u64()?,
        batch: fields.u64()?,
        previous: fields.array()?,
        hash: blake3::hash(covered).into(),
        body: fields.rest(),
        size: PREFIX_BYTES.saturating_add(covered.len()),
    }))
}

/// Returns the first offset from `offset` on at which a record could begin.
pub(crate) fn find_magic(segment: &[u8], offset: usize) -> Option<usize> {
    let bytes = bytes_from(segment, offset);
    offset.checked_add(bytes.windows(MAGIC.len()).position(|window| window == MAGIC)?)
}
