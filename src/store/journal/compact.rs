//! Compaction: a snapshot in the place of the records up to it.
//!
//! Guarantees: at every moment either the segments are there from the first on, or a durable
//! snapshot that a durable record names is. The order is: the snapshot, a new segment, a record
//! that names the snapshot, and only then the old segments go, oldest first.

use super::{
    super::{bytes::to_usize, disk::Disk},
    Head, Journal, JournalError,
    snapshot::{self, Sealed},
};

impl Journal {
    /// Where the chain that is here begins: behind this record.
    pub fn base(&self) -> Result<Option<Sealed>, JournalError> {
        self.reader().base()
    }

    /// Writes a snapshot of what is known after the last durable record, and begins a new segment.
    /// Nothing rests on it before a record names the hash that this answers.
    pub fn seal(&mut self, fold: u32, body: &[u8]) -> Result<[u8; 32], JournalError> {
        self.refuse_if_poisoned()?;
        let head = self.head();
        let base = self.base()?.map_or(0, |base| base.head.sequence);
        for leftover in snapshot::list(self.disk.as_ref())? {
            if leftover != base {
                remove(self.disk.as_ref(), &snapshot::name(leftover))?;
            }
        }
        let (bytes, hash) = snapshot::seal(head, fold, body);
        let file = snapshot::name(head.sequence);
        self.disk
            .replace(&file, &bytes)
            .map_err(|source| JournalError::io("write", &file, source))?;
        if self.tail.segment <= head.sequence {
            let done = self.roll(0);
            self.poison_on_failure(done)?;
        }
        Ok(hash)
    }

    /// Puts aside what the snapshot behind `head` replaces; without an archive it is dropped.
    /// Answers how many segments that were. The record that names the snapshot must be durable.
    pub fn put_aside(
        &mut self,
        head: Head,
        archive: Option<&dyn Disk>,
    ) -> Result<usize, JournalError> {
        let disk = self.disk.as_ref();
        let sealed = snapshot::look(disk, head.sequence)?;
        for older in snapshot::list(disk)?.into_iter().filter(|older| *older < head.sequence) {
            remove(disk, &snapshot::name(older))?;
        }
        let replaced = snapshot::replaced(disk, &sealed)?;
        for first in &replaced {
            let file = super::segment::name(*first);
            if let Some(archive) = archive {
                let io = |doing| {
                    let file = &file;
                    move |source| JournalError::io(doing, file, source)
                };
                let length = disk.len(&file).map_err(io("read"))?;
                let bytes = disk.read_at(&file, 0, to_usize(length)).map_err(io("read"))?;
                archive.replace(&file, &bytes).map_err(io("archive"))?;
            }
            remove(disk, &file)?;
        }
        Ok(replaced.len())
    }
}

fn remove(disk: &dyn Disk, file: &str) -> Result<(), JournalError> {
    disk.remove(file).map_err(|source| JournalError::io("remove", file, source))
}
