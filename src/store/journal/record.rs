//! One record on disk.
//!
//! ```text
//! magic 4 · crc32 4 · length 4 · version 1 · sequence 8 · batch 8 · previous hash 32 · body
//! ```
//!
//! The checksum covers everything behind itself. The length counts everything behind itself. The
//! hash (BLAKE3) covers version to body, so it fixes the whole history. `batch` is the sequence of
//! the first record that was written together with this one: nothing of a batch is acknowledged
//! before all of it is durable. Zeros where a record could begin are the end.

use crate::store::disk::bytes::{ByteReader, bytes_from, is_zero};

const MAGIC: [u8; 4] = *b"RkJ1";
const VERSION: u8 = 1;
/// Magic, checksum and length.
const PREFIX_BYTES: usize = 12;
/// Version, sequence, batch and previous hash.
const FIXED_BYTES: usize = 49;

/// One record, verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalRecord {
    /// The position in the journal, from 1.
    pub sequence: u64,
    /// The hash that the next record names.
    pub hash: [u8; 32],
    /// The bytes that were appended.
    pub body: Vec<u8>,
}

/// A record with a valid checksum, still in its segment.
#[derive(Debug)]
pub(crate) struct RawRecord<'a> {
    pub(crate) sequence: u64,
    pub(crate) batch: u64,
    pub(crate) previous: [u8; 32],
    pub(crate) hash: [u8; 32],
    pub(crate) body: &'a [u8],
    /// Bytes on disk.
    pub(crate) size: usize,
}

/// Content at an offset.
#[derive(Debug)]
pub(crate) enum RecordSlot<'a> {
    Record(RawRecord<'a>),
    /// Zeros, or no room for a record: the end of the written data.
    End,
    /// Intact, but of a version that this program does not know.
    UnknownVersion(u8),
    Invalid(&'static str),
}

/// Returns the bytes on disk of a record with a body of this length.
pub(crate) fn size(body: usize) -> usize {
    PREFIX_BYTES.saturating_add(FIXED_BYTES).saturating_add(body)
}

/// Appends one record to `out` and returns its hash.
///
/// The body is at most [`super::log::BODY_BYTES_MAX`], so its length fits the field.
pub(crate) fn encode(
    out: &mut Vec<u8>,
    sequence: u64,
    batch: u64,
    previous: &[u8; 32],
    body: &[u8],
) -> [u8; 32] {
    let mut covered = Vec::with_capacity(FIXED_BYTES.saturating_add(body.len()));
    covered.push(VERSION);
    covered.extend_from_slice(&sequence.to_le_bytes());
    covered.extend_from_slice(&batch.to_le_bytes());
    covered.extend_from_slice(previous);
    covered.extend_from_slice(body);
    let length = u32::try_from(covered.len()).unwrap_or(u32::MAX).to_le_bytes();
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&checksum(length, &covered).to_le_bytes());
    out.extend_from_slice(&length);
    out.extend_from_slice(&covered);
    blake3::hash(&covered).into()
}

/// Returns the content at `offset` of a segment.
pub(crate) fn parse_at(segment: &[u8], offset: usize) -> RecordSlot<'_> {
    let bytes = bytes_from(segment, offset);
    let start = bytes.get(..PREFIX_BYTES).unwrap_or(bytes);
    if is_zero(start) {
        return RecordSlot::End;
    }
    read(bytes).unwrap_or(RecordSlot::Invalid("it ends behind the end of the file"))
}

/// Reads a record; `None` if the bytes end too early.
fn read(bytes: &[u8]) -> Option<RecordSlot<'_>> {
    let mut fields = ByteReader::new(bytes);
    if fields.array()? != MAGIC {
        return Some(RecordSlot::Invalid("it does not begin like a record"));
    }
    let crc = fields.u32()?;
    let length = fields.u32()?;
    let covered = fields.take(usize::try_from(length).ok()?)?;
    if checksum(length.to_le_bytes(), covered) != crc {
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
    let at = bytes.windows(MAGIC.len()).position(|window| window == MAGIC)?;
    offset.checked_add(at)
}

/// Returns the version that this program writes.
pub(crate) fn version() -> u32 {
    u32::from(VERSION)
}

fn checksum(length: [u8; 4], covered: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&length);
    crc.update(covered);
    crc.finalize()
}
