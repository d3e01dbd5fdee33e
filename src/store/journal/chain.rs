//! Positions in the chain of records, and the errors that break it: each case has its own variant,
//! with the place and the remedy.

use std::io;

use serde::{Deserialize, Serialize};

use crate::store::disk::bytes::to_usize;

/// Start of the first record.
pub(crate) const HEADER_BYTES: u64 = 64;

/// Error of opening, reading or writing the journal.
///
/// Files are named within `STATE/journal`; offsets are bytes from the start of the file.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("{doing} journal/{file}: {source}")]
    Io {
        /// The verb: read, write, sync, …
        doing: &'static str,
        /// The file; empty for the directory itself.
        file: String,
        #[source]
        source: io::Error,
    },

    /// The mark outside the state directory cannot be written; the journal then accepts nothing
    /// more.
    #[error("{doing} the mark of the state: {source}")]
    Mark {
        doing: &'static str,
        #[source]
        source: io::Error,
    },

    /// A file that no journal wrote.
    #[error("read the journal: journal/{file} is not a segment; move it out of the directory")]
    Foreign { file: String },

    /// Records that a segment should hold are in no file.
    #[error(
        "read the journal: the records from {expected} on are in no file ({}); a segment was lost: \
         restore the state directory from a backup",
        .found.as_ref().map_or_else(|| "nothing follows".to_owned(), |file| format!("journal/{file} follows"))
    )]
    MissingSegment {
        /// The first sequence that is missing.
        expected: u64,
        /// The file found in place of the missing one.
        found: Option<String>,
    },

    /// The header of a segment is damaged, or does not fit its place.
    #[error("read the header of journal/{file}: {why}; restore the state directory from a backup")]
    Header { file: String, why: &'static str },

    /// A snapshot cannot replace the records before it.
    #[error(
        "read journal/{file}: {why}; restore a backup, or move the segments that the compaction put \
         aside in archive/ back to journal/ and this file away"
    )]
    Snapshot { file: String, why: &'static str },

    /// A later program version wrote the file.
    #[error(
        "read journal/{file} at byte {offset}: it has format version {found}, this program knows \
         up to {known}; use the newer program that wrote it"
    )]
    Version {
        file: String,
        offset: u64,
        found: u32,
        /// The newest version known.
        known: u32,
    },

    /// A record is damaged, and the data behind it proves that the record was once intact.
    #[error(
        "read journal/{file} at byte {offset}: record {sequence} is damaged ({why}), but {follows}, \
         so this is not a torn tail and nothing was cut; restore the state directory from a backup"
    )]
    Damaged {
        file: String,
        /// Start of the damaged record.
        offset: u64,
        /// The expected sequence.
        sequence: u64,
        why: &'static str,
        /// The evidence found behind the record.
        follows: DamageEvidence,
    },

    /// A record is intact but does not continue the record before it.
    #[error(
        "read journal/{file} at byte {offset}: the record that should be {sequence} does not \
         continue the one before it; the journal was edited or files were mixed: restore the state \
         directory from a backup"
    )]
    Chain {
        file: String,
        /// Start of the record.
        offset: u64,
        /// The expected sequence.
        sequence: u64,
    },

    /// The journal lacks a record that was once durable.
    #[error(
        "open the journal: record {} was acknowledged before, but the journal ends at {} or holds \
         another history; restore the newest state directory",
        .known.sequence, .found.sequence
    )]
    Forgotten {
        /// The head that was durable.
        known: Head,
        /// The head of the journal.
        found: Head,
    },

    /// The position noted at a clean stop does not fit this journal.
    #[error(
        "open the journal from record {sequence}: journal/{file} at byte {offset} holds something \
         else; check the journal from its beginning"
    )]
    Untrusted {
        /// The file that the position names.
        file: String,
        /// Expected start of the record.
        offset: u64,
        /// The expected sequence.
        sequence: u64,
    },

    /// A body is too large for one record; nothing was written.
    #[error("append {bytes} bytes: one record holds at most {limit}")]
    TooLarge { bytes: usize, limit: usize },

    /// An earlier write failed, so nothing more is accepted.
    #[error("append to the journal: an earlier write failed ({cause}); stop and open it again")]
    Poisoned {
        /// The first failure.
        cause: String,
    },

    /// Every sequence is used.
    #[error("append to the journal: there is no sequence left")]
    Full,
}

impl JournalError {
    pub(in crate::store) fn io(doing: &'static str, file: &str, source: io::Error) -> Self {
        Self::Io { doing, file: file.to_owned(), source }
    }
}

/// Evidence found behind a damaged record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DamageEvidence {
    /// An intact record in the same file.
    #[error("record {sequence} follows at byte {offset}")]
    Record {
        sequence: u64,
        /// Start of that record.
        offset: u64,
    },
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
    /// The head of a journal without records.
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

/// Position of the next record.
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

pub(crate) fn next(sequence: u64) -> Result<u64, JournalError> {
    sequence.checked_add(1).ok_or(JournalError::Full)
}
