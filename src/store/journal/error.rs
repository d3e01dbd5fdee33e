//! What can be wrong with a journal: each case its own, with the place and the way out.

use std::io;

use super::Head;

/// Why the journal could not be opened, read or written.
///
/// Files are named within `STATE/journal`; offsets are bytes from the start of the file.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The disk refused.
    #[error("{doing} journal/{file}: {source}")]
    Io {
        /// The verb: read, write, sync, …
        doing: &'static str,
        /// The file, or nothing for the directory itself.
        file: String,
        /// The disk's own error.
        #[source]
        source: io::Error,
    },

    /// The mark outside the state directory cannot be written: then nothing is promised any more.
    #[error("{doing} the mark of the state: {source}")]
    Mark {
        /// The verb.
        doing: &'static str,
        /// The disk's own error.
        #[source]
        source: io::Error,
    },

    /// A file that no journal wrote.
    #[error("read the journal: journal/{file} is not a segment; move it out of the directory")]
    Foreign {
        /// The file.
        file: String,
    },

    /// Records that a segment should hold are in no file.
    #[error(
        "read the journal: the records from {expected} on are in no file ({}); a segment was lost: \
         restore the state directory from a backup",
        .found.as_ref().map_or_else(|| "nothing follows".to_owned(), |file| format!("journal/{file} follows"))
    )]
    MissingSegment {
        /// The first sequence that is missing.
        expected: u64,
        /// The file that stands where the missing one should.
        found: Option<String>,
    },

    /// The first bytes of a segment are not those of a segment in its place.
    #[error("read the header of journal/{file}: {why}; restore the state directory from a backup")]
    Header {
        /// The file.
        file: String,
        /// What is wrong with it.
        why: &'static str,
    },

    /// A snapshot cannot stand in the place of the records before it.
    #[error(
        "read journal/{file}: {why}; restore a backup, or move the segments that the compaction put \
         aside in archive/ back to journal/ and this file away"
    )]
    Snapshot {
        /// The file.
        file: String,
        /// What is wrong with it.
        why: &'static str,
    },

    /// A later program wrote this.
    #[error(
        "read journal/{file} at byte {offset}: it has format version {found}, this program knows \
         up to {known}; use the newer program that wrote it"
    )]
    Version {
        /// The file.
        file: String,
        /// Where.
        offset: u64,
        /// The version found.
        found: u32,
        /// The newest version known.
        known: u32,
    },

    /// A record is damaged, and what follows proves that it was once whole.
    #[error(
        "read journal/{file} at byte {offset}: record {sequence} is damaged ({why}), but {follows}, \
         so this is not a torn tail and nothing was cut; restore the state directory from a backup"
    )]
    Damaged {
        /// The file.
        file: String,
        /// Where the damaged record begins.
        offset: u64,
        /// The sequence that should stand there.
        sequence: u64,
        /// What is wrong with it.
        why: &'static str,
        /// The evidence: what was found behind it.
        follows: Follows,
    },

    /// A record is whole but does not continue the one before it.
    #[error(
        "read journal/{file} at byte {offset}: the record that should be {sequence} does not \
         continue the one before it; the journal was edited or files were mixed: restore the state \
         directory from a backup"
    )]
    Chain {
        /// The file.
        file: String,
        /// Where the record begins.
        offset: u64,
        /// The sequence that should stand there.
        sequence: u64,
    },

    /// The journal lacks what is known to have been in it.
    #[error(
        "open the journal: record {} was acknowledged before, but the journal ends at {} or holds \
         another history; restore the newest state directory",
        .known.sequence, .found.sequence
    )]
    Forgotten {
        /// What was known to be durable.
        known: Head,
        /// What the journal holds at most.
        found: Head,
    },

    /// The position written down at a clean stop does not fit this journal.
    #[error(
        "open the journal from record {sequence}: journal/{file} at byte {offset} holds something \
         else; check the journal from its beginning"
    )]
    Untrusted {
        /// The file that the position names.
        file: String,
        /// Where its record should begin.
        offset: u64,
        /// The sequence that should stand there.
        sequence: u64,
    },

    /// A body is too large for one record; nothing was written.
    #[error("append {bytes} bytes: one record holds at most {limit}")]
    TooLarge {
        /// The size asked for.
        bytes: usize,
        /// The largest size.
        limit: usize,
    },

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

/// What was found behind a damaged record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Follows {
    /// A whole record in the same file.
    #[error("record {sequence} follows at byte {offset}")]
    Record {
        /// Its sequence.
        sequence: u64,
        /// Where it begins.
        offset: u64,
    },
    /// A later segment, and segments are made only after the one before is durable.
    #[error("journal/{file} follows")]
    Segment {
        /// The file.
        file: String,
    },
    /// Nothing on disk, but the record was already acknowledged to its writer.
    #[error("it was acknowledged before")]
    Acknowledged,
}
