//! The journal: append-only, hash-chained segments, the source of truth that cannot be rebuilt.
//!
//! Why it exists: law 1, no effect leaves the process before the entry that explains it is on disk.
//!
//! Guarantees:
//! - Records that [`Journal::sync`] acknowledged are found again, or opening fails.
//! - A tail is cut only if it cannot have been acknowledged ([`judge_tail`](super::check::judge_tail)).
//! - Every record names the hash of the record before it.
//! - After a failed write or sync nothing more is accepted, for a sync that failed once proves
//!   nothing when it succeeds later.
//!
//! Assumptions: one owner; a successful sync is durable; a crash may keep a prefix of a batch that
//! was never acknowledged, so each record must be true on its own.
//!
//! Files are `{first sequence, 20 digits}.seg`, filled with zeros beforehand. A segment is durable
//! as a whole before its successor is created, so only the last segment can have a torn tail.

#[cfg(test)]
mod tests;

use std::{ops::Range, sync::Arc};

use super::chain::{HEADER_BYTES, Head, JournalError, Position, Tail, next};
use super::high_water::HighWater;
use super::read::{JournalReader, JournalRecords};
use super::{check, record, segment};
use crate::store::disk::bytes::to_u64;
use crate::store::disk::traits::Disk;

/// The largest body of one record, in bytes.
pub const BODY_BYTES_MAX: usize = 1 << 20;

/// The journal, owned by one process.
#[derive(Debug)]
pub struct Journal {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) segment_bytes: u64,
    /// The last record written, durable or not.
    pub(crate) written: Position,
    /// The last record that a sync made durable.
    pub(crate) durable: Position,
    pub(crate) tail: Tail,
    pub(crate) poisoned: Option<String>,
    /// The mark that follows the durable head, if the state has one.
    pub(crate) mark: Option<HighWater>,
}

impl Journal {
    /// Returns the last durable record.
    pub fn head(&self) -> Head {
        self.durable.head
    }

    /// Returns the last record written, durable or not.
    pub(crate) fn written_head(&self) -> Head {
        self.written.head
    }

    /// Returns the position of the last durable record, which a clean stop may note as trusted.
    pub fn position(&self) -> Position {
        self.durable
    }

    /// Returns a handle that reads durable records while others are appended.
    pub fn reader(&self) -> JournalReader {
        JournalReader::new(Arc::clone(&self.disk))
    }

    /// Returns the durable records from `sequence` on, each verified against the record before it.
    pub fn read_from(&self, sequence: u64) -> JournalRecords {
        self.reader().records(sequence, self.head().sequence)
    }

    /// Verifies every record from the first and returns the head that was found.
    ///
    /// # Errors
    /// Any damage, also in a part that opening trusted, or a chain that does not end in the head of
    /// this journal.
    pub fn verify(&self) -> Result<Head, JournalError> {
        check::check_all(self.disk.as_ref(), self.head())
    }

    /// Writes the bodies as one batch and returns their sequences; durable only after [`sync`].
    ///
    /// A body above [`BODY_BYTES_MAX`] refuses the whole batch before anything is written.
    ///
    /// [`sync`]: Self::sync
    pub fn append(&mut self, bodies: &[Vec<u8>]) -> Result<Range<u64>, JournalError> {
        self.refuse_if_poisoned()?;
        if let Some(body) = bodies.iter().find(|body| body.len() > BODY_BYTES_MAX) {
            return Err(JournalError::TooLarge { bytes: body.len(), limit: BODY_BYTES_MAX });
        }
        let first = next(self.written.head.sequence)?;
        let done = self.write(first, bodies);
        self.poison_on_failure(done)?;
        Ok(first..self.written.head.sequence.saturating_add(1))
    }

    /// Makes everything appended so far durable.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.refuse_if_poisoned()?;
        if self.durable == self.written {
            return Ok(());
        }
        let done = self.sync_tail();
        self.poison_on_failure(done)?;
        self.durable = self.written;
        self.mark("write", HighWater::write)
    }

    /// Makes a mark outside the state directory follow the durable head from now on.
    pub(crate) fn follow_with_mark(&mut self, mark: HighWater) {
        self.mark = Some(mark);
    }

    /// Makes the mark durable, if the state has one; it then names the durable head.
    ///
    /// # Errors
    /// The mark cannot be synced; nothing more is accepted.
    pub fn sync_mark(&mut self) -> Result<(), JournalError> {
        self.mark("sync", |mark, _| mark.sync())
    }

    fn mark(
        &mut self,
        doing: &'static str,
        act: impl FnOnce(&mut HighWater, Head) -> std::io::Result<()>,
    ) -> Result<(), JournalError> {
        let head = self.durable.head;
        let Some(mark) = &mut self.mark else { return Ok(()) };
        let done = act(mark, head).map_err(|source| JournalError::Mark { doing, source });
        self.poison_on_failure(done)
    }

    fn write(&mut self, batch: u64, bodies: &[Vec<u8>]) -> Result<(), JournalError> {
        let mut pending = Vec::new();
        for body in bodies {
            let size = record::size(body.len());
            if self.tail.free_bytes() < pending.len().saturating_add(size) {
                self.flush(&mut pending)?;
            }
            if self.tail.free_bytes() < size {
                self.roll(size)?;
            }
            self.encode(&mut pending, batch, body)?;
        }
        self.flush(&mut pending)
    }

    fn encode(&mut self, out: &mut Vec<u8>, batch: u64, body: &[u8]) -> Result<(), JournalError> {
        let sequence = next(self.written.head.sequence)?;
        let begins = self.tail.offset.saturating_add(to_u64(out.len()));
        let hash = record::encode(out, sequence, batch, &self.written.head.hash, body);
        self.written = Position {
            head: Head { sequence, hash },
            segment: self.tail.segment,
            begins,
            ends: self.tail.offset.saturating_add(to_u64(out.len())),
        };
        Ok(())
    }

    fn flush(&mut self, pending: &mut Vec<u8>) -> Result<(), JournalError> {
        if pending.is_empty() {
            return Ok(());
        }
        let file = segment::name(self.tail.segment);
        self.disk
            .write_at(&file, self.tail.offset, pending)
            .map_err(|source| JournalError::io("write", &file, source))?;
        self.tail.offset = self.tail.offset.saturating_add(to_u64(pending.len()));
        pending.clear();
        Ok(())
    }

    /// Starts the next segment. The former segment is made durable first, so that damage in it can
    /// never pass for a torn tail.
    pub(crate) fn roll(&mut self, size: usize) -> Result<(), JournalError> {
        self.sync_tail()?;
        let needed = HEADER_BYTES.saturating_add(to_u64(size));
        let capacity = self.segment_bytes.max(needed);
        self.tail = segment::create(self.disk.as_ref(), self.written.head, capacity)?;
        Ok(())
    }

    fn sync_tail(&self) -> Result<(), JournalError> {
        let file = segment::name(self.tail.segment);
        self.disk.sync(&file).map_err(|source| JournalError::io("sync", &file, source))
    }

    pub(crate) fn refuse_if_poisoned(&self) -> Result<(), JournalError> {
        match &self.poisoned {
            Some(cause) => Err(JournalError::Poisoned { cause: cause.clone() }),
            None => Ok(()),
        }
    }

    pub(crate) fn poison_on_failure(
        &mut self,
        done: Result<(), JournalError>,
    ) -> Result<(), JournalError> {
        if let Err(error) = &done {
            self.poisoned = Some(error.to_string());
        }
        done
    }
}
