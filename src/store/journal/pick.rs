//! Reads single records, each verified from the beginning of its segment.

use super::error::JournalError;
use super::read::JournalReader;
use super::record::JournalRecord;
use super::segment;

/// Records that were picked, and the ranges that were verified for them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PickedRecords {
    /// The records, in the order of their sequences.
    pub records: Vec<JournalRecord>,
    /// Ranges of records whose checksums, hashes and links were verified: first and last sequence.
    pub verified: Vec<(u64, u64)>,
}

impl JournalReader {
    /// Returns the first sequence of the first segment; `None` if there is no segment.
    pub fn first(&self) -> Result<Option<u64>, JournalError> {
        Ok(segment::list(self.disk())?.first().copied())
    }

    /// Returns the records of these sequences, which must ascend and be durable.
    pub fn pick(&self, sequences: &[u64]) -> Result<PickedRecords, JournalError> {
        let segments = segment::list(self.disk())?;
        let segment_of = |sequence: u64| segments.iter().rev().find(|first| **first <= sequence);
        let mut picked = PickedRecords::default();
        for group in sequences.chunk_by(|one, next| segment_of(*one) == segment_of(*next)) {
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            let begins = segment_of(*first).copied().unwrap_or(*first);
            for record in self.records(begins, *last) {
                let record = record?;
                if group.contains(&record.sequence) {
                    picked.records.push(record);
                }
            }
            picked.verified.push((begins, *last));
        }
        Ok(picked)
    }
}
