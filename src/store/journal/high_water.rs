//! The high-water mark: a journal's last durable head, kept outside the state directory.
//!
//! Purpose: a state that was put back by a copy or a snapshot looks intact. Only something outside
//! the state knows how far it had gone.
//!
//! Guarantees:
//! - The mark is never ahead of the durable journal: [`Journal`](crate::store::journal::log::Journal) writes it
//!   after a successful sync.
//! - It is durable before an effect leaves the process
//!   ([`Fold::sends_effect`](crate::store::writer::parts::Fold::sends_effect)), and after a clean stop. Between
//!   those it is written without a sync: a process that ends loses nothing of it, a power failure may.
//! - A power failure leaves the old mark or a newer one: writes alternate between two sectors, and
//!   the durable sector is not overwritten before the other one is durable. A mark that an earlier
//!   process left unsynced is synced before the first write.
//!
//! The file is `{id of the state}.mark`, so that states can share a folder. It is created with the
//! first record that is written; reading creates nothing.
//!
//! ```text
//! per sector of 512 bytes: magic 8 · version 4 · count 8 · sequence 8 · hash 32 · crc32 4 · zeros
//! ```

use std::io;
use std::sync::Arc;

use super::chain::Head;
use crate::store::disk::bytes::{ByteReader, bytes_from};
use crate::store::disk::traits::Disk;

const MAGIC: [u8; 8] = *b"RECKONM\n";
const VERSION: u32 = 1;
const COVERED_BYTES: usize = 60;
const SECTOR_BYTES: usize = 512;
const FILE_BYTES: u64 = 1024;

/// The mark of one journal.
#[derive(Debug)]
pub struct HighWater {
    disk: Arc<dyn Disk>,
    file: String,
    /// The head in the file.
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
    /// Reads the mark of the state with this id; nothing is written.
    ///
    /// # Errors
    /// The file cannot be read. A file without one valid sector counts as missing.
    pub fn open(disk: Arc<dyn Disk>, id: &str) -> io::Result<Self> {
        let file = format!("{id}.mark");
        let bytes = match disk.read_at(&file, 0, SECTOR_BYTES.saturating_mul(2)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            other => other?,
        };
        let (first, second) = (decode(&bytes), decode(bytes_from(&bytes, SECTOR_BYTES)));
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
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, head: Head) -> io::Result<()> {
        self.begin()?;
        let count = self.count.saturating_add(1);
        let offset = if self.second { FILE_BYTES / 2 } else { 0 };
        self.disk.write_at(&self.file, offset, &encode(count, head))?;
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
    ///
    /// # Errors
    /// The file cannot be synced.
    pub fn sync(&mut self) -> io::Result<()> {
        if self.unsynced {
            self.disk.sync(&self.file)?;
            (self.unsynced, self.second) = (false, !self.second);
        }
        Ok(())
    }
}

fn encode(count: u64, head: Head) -> Vec<u8> {
    let mut sector = Vec::with_capacity(SECTOR_BYTES);
    sector.extend_from_slice(&MAGIC);
    sector.extend_from_slice(&VERSION.to_le_bytes());
    sector.extend_from_slice(&count.to_le_bytes());
    sector.extend_from_slice(&head.sequence.to_le_bytes());
    sector.extend_from_slice(&head.hash);
    sector.extend_from_slice(&crc32fast::hash(&sector).to_le_bytes());
    sector.resize(SECTOR_BYTES, 0);
    sector
}

/// Returns count and head of a sector with a valid checksum.
fn decode(sector: &[u8]) -> Option<(u64, Head)> {
    let covered = sector.get(..COVERED_BYTES)?;
    let crc = ByteReader::new(bytes_from(sector, COVERED_BYTES)).u32()?;
    let mut fields = ByteReader::new(covered);
    if fields.array()? != MAGIC || fields.u32()? != VERSION || crc32fast::hash(covered) != crc {
        return None;
    }
    Some((fields.u64()?, Head { sequence: fields.u64()?, hash: fields.array()? }))
}

#[cfg(test)]
mod tests {
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
