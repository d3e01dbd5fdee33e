//! An index in memory with a log on disk, for the emulator: an answer waits for one write of the log
//! and for no database.
//!
//! Contract: a flushed batch survives the end of this process, but not a power cut. Opening reads the
//! log again. A log that is far longer than its entries is replaced by one of the entries alone,
//! while changes wait.
//!
//! ```text
//! log:    magic 8 · version 4 · records
//! record: length 4 · crc32 of the length 4 · crc32 of the changes 4 · changes
//! change: key length 4 · value length + 1, or 0 for a removal, 4 · key · value
//! ```

#[cfg(test)]
mod tests;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use crate::store::disk::directory::private_dir;
use crate::store::disk::traits::{ByteReader, to_u64, to_usize};
use crate::store::index::ordered::{Batch, Index, IndexError, IndexResult, ScanResult};
use crate::store::index::paths::PathIndex;

const LOG: &str = "log";
const NEXT_LOG: &str = "log.next";
const LOCK: &str = "lock";
const MAGIC: &[u8; 12] = b"RECKONE\n\x01\0\0\0";
/// Bytes before the changes of a record.
const RECORD_HEAD: usize = 12;
/// Waiting bytes that are written without a flush.
const WAITING_BYTES_MAX: usize = 1 << 20;
/// Bytes by which a log may exceed three times the length of its values.
const SURPLUS_BYTES: u64 = 64 << 20;

#[derive(Debug)]
pub struct LoggedIndex {
    dir: PathBuf,
    memory: PathIndex,
    /// Records that are not written yet. Changes of the memory hold this lock.
    waiting: Mutex<Vec<u8>>,
    /// Taken before `waiting`.
    log: Mutex<Log>,
    _lock: File,
}

#[derive(Debug)]
struct Log {
    file: File,
    /// The length of all complete records.
    bytes: u64,
    /// The length up to which it is not compacted, after a failure.
    enough: u64,
    /// Records that are being written; kept until they are.
    draft: Vec<u8>,
}

impl LoggedIndex {
    /// Opens the index in this folder; creates it, for its owner alone, with the entries of `first`
    /// if it does not exist.
    ///
    /// # Errors
    /// [`IndexError::DamagedLog`] for a log whose records do not have their checksum, except that an
    /// incomplete last record, which no flush covered, is cut off.
    pub fn open(
        dir: &Path,
        looked_up: &'static [&'static str],
        first: impl FnOnce() -> ScanResult,
    ) -> IndexResult<Self> {
        let failed = |source| IndexError::Io { path: dir.to_owned(), source };
        private_dir(dir).map_err(failed)?;
        let lock = lock(&dir.join(LOCK)).map_err(failed)?;
        let memory = PathIndex::new(looked_up);
        let path = dir.join(LOG);
        if !path.try_exists().map_err(failed)? {
            let mut batch = Batch::new();
            first()?.into_iter().for_each(|(key, value)| batch.put(key, value));
            memory.apply(batch)?;
            Log::create(dir, &memory).map_err(failed)?;
        }
        let length = replay(&path, &memory)?;
        let log = Log::open(&path, length).map_err(failed)?;
        let (log, waiting) = (Mutex::new(log), Mutex::default());
        Ok(Self { dir: dir.to_owned(), memory, waiting, log, _lock: lock })
    }

    /// Replaces the log by one of the entries alone. The caller holds the log.
    fn compact(&self, log: &mut Log) -> io::Result<()> {
        let mut waiting = self.waiting.lock();
        *log = Log::create(&self.dir, &self.memory)?;
        waiting.clear();
        Ok(())
    }

    /// Compacts a log that is long. One that cannot be compacted is complete, and tried again once
    /// it is much longer.
    fn compact_if_long(&self, log: &mut Log) {
        let most = to_u64(self.memory.bytes()).saturating_mul(3).saturating_add(SURPLUS_BYTES);
        if log.bytes <= most.max(log.enough) {
            return;
        }
        if let Err(error) = self.compact(log) {
            tracing::warn!(%error, "cannot compact the log in {}", self.dir.display());
            log.enough = log.bytes.saturating_add(SURPLUS_BYTES);
        }
    }
}

impl Index for LoggedIndex {
    fn get(&self, key: &[u8]) -> IndexResult<Option<Vec<u8>>> {
        self.memory.get(key)
    }

    fn with_value(&self, key: &[u8], see: &mut dyn FnMut(&[u8])) -> IndexResult {
        self.memory.with_value(key, see)
    }

    fn scan_from(&self, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> ScanResult {
        self.memory.scan_from(prefix, after, limit)
    }

    fn count(&self, prefix: &[u8]) -> IndexResult<usize> {
        self.memory.count(prefix)
    }

    fn apply(&self, batch: Batch) -> IndexResult {
        let batch = batch.check_keys()?;
        // Before the change: where nothing can be written, nothing is changed, and what waits has a
        // bound.
        if self.waiting.lock().len() > WAITING_BYTES_MAX {
            self.flush()?;
        }
        let mut waiting = self.waiting.lock();
        let changes = batch.changes.iter().map(|(key, change)| (&**key, change.as_deref()));
        add_record(&mut waiting, changes);
        self.memory.apply(batch)
    }

    fn flush(&self) -> IndexResult {
        let failed = |source| IndexError::Io { path: self.dir.clone(), source };
        let mut log = self.log.lock();
        // What an earlier flush could not write comes first.
        log.write().map_err(failed)?;
        log.draft.append(&mut self.waiting.lock());
        log.write().map_err(failed)?;
        self.compact_if_long(&mut log);
        Ok(())
    }
}

impl Drop for LoggedIndex {
    fn drop(&mut self) {
        if let Err(error) = self.flush() {
            tracing::error!(%error, "the last reads of the sandbox are not in its log");
        }
    }
}

impl Log {
    /// Opens a log whose complete records have this length, and cuts off the rest.
    fn open(path: &Path, bytes: u64) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).open(path)?;
        file.set_len(bytes)?;
        Ok(Self { file, bytes, enough: 0, draft: Vec::new() })
    }

    /// Makes a log of all entries, which is durable before it takes its name.
    fn create(dir: &Path, memory: &PathIndex) -> io::Result<Self> {
        let draft = dir.join(NEXT_LOG);
        let file =
            OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&draft)?;
        let mut file = io::BufWriter::new(file);
        let bytes = write_all(&mut file, memory)?;
        let file = file.into_inner()?;
        file.sync_all()?;
        fs::rename(&draft, dir.join(LOG))?;
        Ok(Self { file, bytes, enough: 0, draft: Vec::new() })
    }

    /// Writes the draft. After an error it is kept, and written again in the place of what was written
    /// of it.
    fn write(&mut self) -> io::Result<()> {
        self.file.write_all_at(&self.draft, self.bytes)?;
        self.bytes = self.bytes.saturating_add(to_u64(self.draft.len()));
        self.draft.clear();
        Ok(())
    }
}

/// Takes the lock of the folder, held until the file is closed.
fn lock(path: &Path) -> io::Result<File> {
    let file =
        OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(io::Error::other("another process uses it")),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Writes all entries; returns the length of what was written.
fn write_all(file: &mut impl Write, memory: &PathIndex) -> io::Result<u64> {
    file.write_all(MAGIC)?;
    let (mut length, mut record, mut result) = (to_u64(MAGIC.len()), Vec::new(), Ok(()));
    memory.each(&mut |key, value| {
        record.clear();
        add_record(&mut record, std::iter::once((key, Some(value))));
        length = length.saturating_add(to_u64(record.len()));
        if result.is_ok() {
            result = file.write_all(&record);
        }
    });
    result.map(|()| length)
}

fn add_record<'a>(into: &mut Vec<u8>, changes: impl Iterator<Item = (&'a [u8], Option<&'a [u8]>)>) {
    let start = into.len();
    into.extend([0; RECORD_HEAD]);
    for (key, value) in changes {
        let length = value.map_or(0, |value| value.len().saturating_add(1));
        into.extend(bytes_of(key.len()));
        into.extend(bytes_of(length));
        into.extend(key);
        into.extend(value.unwrap_or_default());
    }
    let (_, record) = into.split_at_mut(start);
    if let Some((head, changes)) = record.split_first_chunk_mut::<RECORD_HEAD>() {
        let length = bytes_of(changes.len());
        let sums = [crc32fast::hash(&length), crc32fast::hash(changes)].map(u32::to_le_bytes);
        head.copy_from_slice([length, sums[0], sums[1]].as_flattened());
    }
}

fn bytes_of(length: usize) -> [u8; 4] {
    u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes()
}

/// Applies all records of a log; returns the length of the complete ones.
fn replay(path: &Path, memory: &PathIndex) -> IndexResult<u64> {
    let failed = |source| IndexError::Io { path: path.to_owned(), source };
    let damaged = |at| IndexError::DamagedLog { path: path.to_owned(), at };
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let (mut file, mut record) = (io::BufReader::new(file), Vec::new());
    if length < to_u64(MAGIC.len()) {
        return Err(damaged(0));
    }
    read(&mut file, MAGIC.len(), &mut record).map_err(failed)?;
    if record != MAGIC {
        return Err(damaged(0));
    }
    let mut at = to_u64(MAGIC.len());
    while let Some(left) = length.checked_sub(at).filter(|left| *left > 0) {
        match next(&mut file, left, &mut record).map_err(failed)? {
            Next::Whole => memory.apply(read_changes(&record).ok_or_else(|| damaged(at))?)?,
            Next::Damaged => return Err(damaged(at)),
            Next::Incomplete => {
                tracing::warn!("{} ends within a record: {left} bytes are lost", path.display());
                break;
            }
        }
        at = at.saturating_add(to_u64(RECORD_HEAD.saturating_add(record.len())));
    }
    Ok(at)
}

enum Next {
    Whole,
    Incomplete,
    Damaged,
}

/// Reads the next record's changes; `left` is the number of bytes up to the end of the file.
fn next(file: &mut impl Read, left: u64, record: &mut Vec<u8>) -> io::Result<Next> {
    let Some(left) = left.checked_sub(to_u64(RECORD_HEAD)) else { return Ok(Next::Incomplete) };
    read(file, RECORD_HEAD, record)?;
    let Some((length, sum)) = record_head(record) else { return Ok(Next::Damaged) };
    if u64::from(length) > left {
        return Ok(Next::Incomplete);
    }
    read(file, to_usize(length.into()), record)?;
    Ok(if crc32fast::hash(record) == sum { Next::Whole } else { Next::Damaged })
}

/// Returns the length and the checksum of a record's changes; `None` for a head that is damaged.
fn record_head(head: &[u8]) -> Option<(u32, u32)> {
    let mut fields = ByteReader::new(head);
    let (length, own_sum, sum) = (fields.u32()?, fields.u32()?, fields.u32()?);
    (crc32fast::hash(&length.to_le_bytes()) == own_sum).then_some((length, sum))
}

fn read(file: &mut impl Read, count: usize, into: &mut Vec<u8>) -> io::Result<()> {
    into.resize(count, 0);
    file.read_exact(into)
}

fn read_changes(bytes: &[u8]) -> Option<Batch> {
    let (mut batch, mut rest) = (Batch::new(), bytes);
    while !rest.is_empty() {
        let mut fields = ByteReader::new(rest);
        let (key, value) = (to_usize(fields.u32()?.into()), to_usize(fields.u32()?.into()));
        let key = fields.take(key)?;
        match value.checked_sub(1) {
            Some(length) => batch.put(key, fields.take(length)?),
            None => batch.remove(key),
        }
        rest = fields.rest();
    }
    Some(batch)
}
