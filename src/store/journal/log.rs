//! The journal: append-only, hash-chained segments, the source of truth that cannot be rebuilt; and
//! the high-water mark, its last durable head, kept outside the state directory.
//!
//! Why it exists: law 1, no effect leaves the process before the entry that explains it is on disk. A
//! state put back by a copy or a snapshot looks intact; only the mark knows how far it had gone.
//!
//! Guarantees of the journal:
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
//!
//! Guarantees of the mark:
//! - It is never ahead of the durable journal: [`Journal`] writes it after a successful sync.
//! - It is durable before an effect leaves the process
//!   ([`Fold::sends_effect`](crate::store::writer::core::Fold::sends_effect)), and after a clean stop.
//!   Between those it is written without a sync: a process that ends loses nothing of it, a power
//!   failure may.
//! - A power failure leaves the old mark or a newer one: writes alternate between two sectors, and
//!   the durable sector is not overwritten before the other one is durable. A mark that an earlier
//!   process left unsynced is synced before the first write.
//!
//! The mark's file is `{id of the state}.mark`, so that states can share a folder. It is created with
//! the first record that is written; reading creates nothing.
//!
//! ```text
//! per sector of 512 bytes: magic 8 · version 4 · count 8 · sequence 8 · hash 32 · crc32 4 · zeros
//! ```

use std::io;
use std::ops::Range;
use std::sync::Arc;

use crate::store::disk::traits::{Disk, bytes_from, open_header, seal_header, to_u64};
use crate::store::journal::chain::{
    HEADER_BYTES, Head, JournalError, JournalResult, Position, Tail, next_sequence,
};
use crate::store::journal::read::{JournalReader, JournalRecords};
use crate::store::journal::{chain, segment};

/// The largest body of one record, in bytes.
pub const BODY_BYTES_MAX: usize = 1 << 20;

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

    /// Returns the position of the last durable record, which a clean stop may note as trusted.
    pub fn position(&self) -> Position {
        self.durable
    }

    /// Returns a handle that reads durable records while others are appended.
    pub fn reader(&self) -> JournalReader {
        JournalReader::over(Arc::clone(&self.disk))
    }

    /// Returns the durable records from `sequence` on, each verified against the record before it.
    pub fn read_from(&self, sequence: u64) -> JournalRecords {
        self.reader().records(sequence, self.head().sequence)
    }

    /// Writes the bodies as one batch and returns their sequences; durable only after [`sync`].
    ///
    /// A body above [`BODY_BYTES_MAX`] refuses the whole batch before anything is written.
    ///
    /// [`sync`]: Self::sync
    pub fn append(&mut self, bodies: &[Vec<u8>]) -> JournalResult<Range<u64>> {
        self.refuse_if_poisoned()?;
        if let Some(body) = bodies.iter().find(|body| body.len() > BODY_BYTES_MAX) {
            return Err(JournalError::TooLarge { bytes: body.len(), limit: BODY_BYTES_MAX });
        }
        let first = next_sequence(self.written.head.sequence)?;
        let done = self.write(first, bodies);
        self.poison_on_failure(done)?;
        Ok(first..self.written.head.sequence.saturating_add(1))
    }

    pub fn sync(&mut self) -> JournalResult {
        self.refuse_if_poisoned()?;
        if self.durable == self.written {
            return Ok(());
        }
        self.poison_on_failure(self.sync_tail())?;
        self.durable = self.written;
        self.mark("write", HighWater::write)
    }

    /// Makes the mark durable, if the state has one; it then names the durable head.
    pub fn sync_mark(&mut self) -> JournalResult {
        self.mark("sync", |mark, _| mark.sync())
    }

    fn mark(
        &mut self,
        doing: &'static str,
        act: impl FnOnce(&mut HighWater, Head) -> io::Result<()>,
    ) -> JournalResult {
        let head = self.durable.head;
        let Some(mark) = &mut self.mark else { return Ok(()) };
        let done = act(mark, head).map_err(|source| JournalError::Mark { doing, source });
        self.poison_on_failure(done)
    }

    fn write(&mut self, batch: u64, bodies: &[Vec<u8>]) -> JournalResult {
        let mut pending = Vec::new();
        for body in bodies {
            let size = chain::record_size(body.len());
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

    fn encode(&mut self, out: &mut Vec<u8>, batch: u64, body: &[u8]) -> JournalResult {
        let sequence = next_sequence(self.written.head.sequence)?;
        let begins = self.tail.offset.saturating_add(to_u64(out.len()));
        let hash = chain::encode_record(out, sequence, batch, &self.written.head.hash, body);
        let ends = self.tail.offset.saturating_add(to_u64(out.len()));
        let (head, segment) = (Head { sequence, hash }, self.tail.segment);
        self.written = Position { head, segment, begins, ends };
        Ok(())
    }

    fn flush(&mut self, pending: &mut Vec<u8>) -> JournalResult {
        if pending.is_empty() {
            return Ok(());
        }
        let file = segment::segment_name(self.tail.segment);
        self.disk
            .write_at(&file, self.tail.offset, pending)
            .map_err(JournalError::io("write", &file))?;
        self.tail.offset = self.tail.offset.saturating_add(to_u64(pending.len()));
        pending.clear();
        Ok(())
    }

    /// Starts the next segment. The former one is made durable first: damage in it is no torn tail.
    pub(crate) fn roll(&mut self, size: usize) -> JournalResult {
        self.sync_tail()?;
        let capacity = self.segment_bytes.max(HEADER_BYTES.saturating_add(to_u64(size)));
        self.tail = segment::create_segment(self.disk.as_ref(), self.written.head, capacity)?;
        Ok(())
    }

    fn sync_tail(&self) -> JournalResult {
        let file = segment::segment_name(self.tail.segment);
        self.disk.sync(&file).map_err(JournalError::io("sync", &file))
    }

    pub(crate) fn refuse_if_poisoned(&self) -> JournalResult {
        self.poisoned.clone().map_or(Ok(()), |cause| Err(JournalError::Poisoned { cause }))
    }

    pub(crate) fn poison_on_failure(&mut self, done: JournalResult) -> JournalResult {
        if let Err(error) = &done {
            self.poisoned = Some(error.to_string());
        }
        done
    }
}

const MAGIC: [u8; 8] = *b"RECKONM\n";
const VERSION: u32 = 1;
const COVERED_BYTES: usize = 60;
const SECTOR_BYTES: usize = 512;
const FILE_BYTES: u64 = 1024;

#[derive(Debug)]
pub struct HighWater {
    disk: Arc<dyn Disk>,
    file: String,
    head: Option<Head>,
    /// The number of writes; the sector with the higher count is the newer one.
    count: u64,
    /// True if the next write goes to the second sector.
    second: bool,
    unsynced: bool,
    /// True if this process has written the mark; until then the newest sector may not be durable.
    begun: bool,
}

impl HighWater {
    /// Reads the mark of the state with this id. A file without one valid sector counts as missing.
    pub fn open(disk: Arc<dyn Disk>, id: &str) -> io::Result<Self> {
        let file = format!("{id}.mark");
        let bytes = match disk.read_at(&file, 0, SECTOR_BYTES.saturating_mul(2)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            other => other?,
        };
        let (first, second) =
            (decode_sector(&bytes), decode_sector(bytes_from(&bytes, SECTOR_BYTES)));
        let newer_is_first = match (&first, &second) {
            (Some(first), Some(second)) => first.0 > second.0,
            (first, _) => first.is_some(),
        };
        let newest = if newer_is_first { first } else { second };
        let (count, head) = newest.map_or((0, None), |(count, head)| (count, Some(head)));
        Ok(Self { disk, file, head, count, second: newer_is_first, unsynced: false, begun: false })
    }

    /// Returns the head in the file; `None` before the first record.
    pub fn head(&self) -> Option<Head> {
        self.head
    }

    /// Writes the mark without a sync. `head` must be durable in the journal.
    pub fn write(&mut self, head: Head) -> io::Result<()> {
        self.begin()?;
        let count = self.count.saturating_add(1);
        let offset = if self.second { FILE_BYTES / 2 } else { 0 };
        self.disk.write_at(&self.file, offset, &encode_sector(count, head))?;
        (self.count, self.head, self.unsynced) = (count, Some(head), true);
        Ok(())
    }

    /// Creates the file, or makes an earlier process's mark durable, since the first write
    /// overwrites the older sector.
    fn begin(&mut self) -> io::Result<()> {
        if self.begun {
            return Ok(());
        }
        match self.head {
            Some(_) => self.disk.sync(&self.file)?,
            None => self.disk.allocate(&self.file, FILE_BYTES)?,
        }
        self.begun = true;
        Ok(())
    }

    /// Makes the mark durable; the next write goes to the other sector.
    pub fn sync(&mut self) -> io::Result<()> {
        if self.unsynced {
            self.disk.sync(&self.file)?;
            (self.unsynced, self.second) = (false, !self.second);
        }
        Ok(())
    }
}

fn encode_sector(count: u64, head: Head) -> Vec<u8> {
    let fields: [&[u8]; 5] = [
        &MAGIC,
        &VERSION.to_le_bytes(),
        &count.to_le_bytes(),
        &head.sequence.to_le_bytes(),
        &head.hash,
    ];
    seal_header(&fields, SECTOR_BYTES)
}

/// Returns count and head of a sector with a valid checksum.
fn decode_sector(sector: &[u8]) -> Option<(u64, Head)> {
    let mut fields = open_header(sector, COVERED_BYTES, MAGIC)?;
    if fields.u32()? != VERSION {
        return None;
    }
    Some((fields.u64()?, Head { sequence: fields.u64()?, hash: fields.array()? }))
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod high_water_tests {
    use super::*;
    use crate::store::disk::traits::MemoryDisk;

    fn head(sequence: u64) -> Head {
        Head { sequence, hash: [7; 32] }
    }

    fn read(disk: &MemoryDisk) -> Option<Head> {
        HighWater::open(Arc::new(disk.clone()), "a").unwrap().head()
    }

    #[test]
    fn the_newest_whole_sector_counts_also_where_the_sequence_went_down() {
        let disk = MemoryDisk::new();
        let mut mark = HighWater::open(Arc::new(disk.clone()), "a").unwrap();
        assert_eq!((mark.head(), disk.list().unwrap().len()), (None, 0), "looking makes nothing");
        for sequence in [3, 9, 4] {
            mark.write(head(sequence)).unwrap();
            mark.sync().unwrap();
            assert_eq!(read(&disk), Some(head(sequence)));
        }
        mark.write(head(12)).unwrap();
        let torn = disk.copy();
        torn.write_at("a.mark", 512, &[0x41; 40]).unwrap();
        assert_eq!(read(&torn), Some(head(4)), "the durable sector is never written over");
        assert_eq!(read(&disk), Some(head(12)));
        mark = HighWater::open(Arc::new(disk.clone()), "a").unwrap();
        mark.write(head(13)).unwrap();
        disk.write_at("a.mark", 0, &[0x41; 40]).unwrap();
        assert_eq!(read(&disk), Some(head(12)), "after opening, too");
        assert_eq!(HighWater::open(Arc::new(disk), "b").unwrap().head(), None, "another state's");
    }
}
