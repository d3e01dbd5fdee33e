//! The index over sled 0.34, limited to the safe part of it.
//!
//! Why it exists: a cold start must not fold the whole journal again.
//!
//! Contract:
//! - One tree, one batch at a time.
//! - Values above [`VALUE_BYTES_MAX`] are stored in chunks, since large values are where sled 0.34
//!   is weak.
//! - sled's asynchronous flush is never used, because it can dead-lock.
//! - Its own flush thread is off: that thread syncs the file twice a second, in the way of the
//!   journal's syncs, and cleans old segments long after a large apply. A full segment is written
//!   through anyway, which bounds the records that are folded again after a kill.
//! - Durability rests on the journal alone.
//! - Opening a damaged database is an error of its own, also if sled panics over it.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use ::sled::Batch as SledBatch;
use parking_lot::RwLock;

use crate::store::disk::directory::private_dir;
use crate::store::disk::traits::ByteReader;
use crate::store::index::ordered::{Batch, Index, IndexError, IndexResult, ScanResult, lower};

/// Memory for pages, in bytes; sled may use about twice as much.
const CACHE_BYTES: u64 = 16 << 20;
/// The longest value stored in one piece, in bytes.
pub const VALUE_BYTES_MAX: usize = 7 << 10;
const CHUNK_BYTES: usize = 4 << 10;

/// The first byte of a stored key: an entry, or a chunk of a long value.
const ENTRY: u8 = b'e';
const CHUNK: u8 = b'c';
/// The first byte of a stored value: the value itself follows, or the number of its chunks.
const WHOLE: u8 = 0;
const CHUNKED: u8 = 1;

type ChunkCounts = BTreeMap<Vec<u8>, u32>;

#[derive(Debug)]
pub struct SledIndex {
    path: PathBuf,
    db: ::sled::Db,
    /// Dropped after the database, so that the drop can wait for it.
    file: DbFile,
    /// Values stored in chunks, with the number of chunks, so that a change need not read the value
    /// that it replaces. A scan holds this lock while it reads, so it never sees half of a batch.
    chunked: RwLock<ChunkCounts>,
}

/// Our own handle on the file of the database: sled's flush does not sync the file on Linux.
#[derive(Debug)]
struct DbFile(File);

impl Drop for DbFile {
    /// Waits until sled's last thread has closed the file. That thread locks it for a moment after
    /// the database is dropped, and opening the folder again would fail in that moment.
    fn drop(&mut self) {
        drop(self.0.lock());
    }
}

impl SledIndex {
    /// Opens the index in this folder; creates it, for its owner alone, if it does not exist.
    ///
    /// # Errors
    /// [`IndexError::Corrupt`] means that the folder should be moved aside and rebuilt.
    pub fn open(path: &Path) -> IndexResult<Self> {
        let failed = |source| IndexError::Io { path: path.to_owned(), source };
        private_dir(path).map_err(failed)?;
        let config =
            ::sled::Config::new().path(path).cache_capacity(CACHE_BYTES).flush_every_ms(None);
        let opened = catch_unwind(AssertUnwindSafe(|| {
            let db = config.open()?;
            db.get([ENTRY])?;
            Ok(db)
        }));
        let db = match opened {
            Ok(opened) => opened.map_err(|error| to_index_error(path, error))?,
            Err(_) => return Err(corrupt(path, "it could not be opened")),
        };
        let chunked = count_chunks(&db).map_err(|error| to_index_error(path, error))?;
        let file = OpenOptions::new().read(true).write(true).open(path.join("db"));
        let (file, chunked) = (DbFile(file.map_err(failed)?), RwLock::new(chunked));
        Ok(Self { path: path.to_owned(), db, file, chunked })
    }

    fn failed(&self) -> impl Fn(::sled::Error) -> IndexError {
        move |error| to_index_error(&self.path, error)
    }

    fn value(&self, key: &[u8], stored: &[u8]) -> IndexResult<Vec<u8>> {
        let broken = || corrupt(&self.path, "a value is malformed");
        match StoredValue::read(stored).ok_or_else(broken)? {
            StoredValue::Whole(value) => Ok(value.to_vec()),
            StoredValue::Chunked(count) => {
                let mut value = Vec::new();
                for number in 0..count {
                    let chunk = self.db.get(chunk_key(key, number));
                    value.extend_from_slice(&chunk.map_err(self.failed())?.ok_or_else(broken)?);
                }
                Ok(value)
            }
        }
    }
}

impl Index for SledIndex {
    fn get(&self, key: &[u8]) -> IndexResult<Option<Vec<u8>>> {
        let _whole = self.chunked.read();
        let stored = self.db.get(entry_key(key)).map_err(self.failed())?;
        stored.map(|stored| self.value(key, &stored)).transpose()
    }

    fn scan_from(&self, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> ScanResult {
        let _whole = self.chunked.read();
        let stored_prefix = entry_key(prefix);
        let begin = lower(prefix, after).map(entry_key);
        let mut entries = Vec::new();
        for item in self.db.range((begin, std::ops::Bound::Unbounded)).take(limit) {
            let (key, stored) = item.map_err(self.failed())?;
            if !key.starts_with(&stored_prefix) {
                break;
            }
            let key = key.get(1..).unwrap_or_default().to_vec();
            let value = self.value(&key, &stored)?;
            entries.push((key, value));
        }
        Ok(entries)
    }

    fn apply(&self, batch: Batch) -> IndexResult {
        let batch = batch.check_keys()?;
        let mut chunked = self.chunked.write();
        let mut out = SledBatch::default();
        for (key, change) in batch.changes {
            stage(&mut chunked, &mut out, key, change);
        }
        self.db.apply_batch(out).map_err(self.failed())
    }

    fn flush(&self) -> IndexResult {
        self.db.flush().map_err(self.failed())?;
        let io = |source| IndexError::Io { path: self.path.clone(), source };
        self.file.0.sync_data().map_err(io)
    }
}

/// Adds one change to the batch for sled, chunks included.
fn stage(chunked: &mut ChunkCounts, out: &mut SledBatch, key: Vec<u8>, change: Option<Vec<u8>>) {
    let before = if chunked.is_empty() { 0 } else { chunked.remove(&key).unwrap_or(0) };
    let after = if let Some(value) = change {
        stage_value(out, &key, &value)
    } else {
        out.remove(entry_key(&key));
        0
    };
    for number in after..before {
        out.remove(chunk_key(&key, number));
    }
    if after > 0 {
        chunked.insert(key, after);
    }
}

fn count_chunks(db: &::sled::Db) -> Result<ChunkCounts, ::sled::Error> {
    let mut chunked = ChunkCounts::new();
    for item in db.scan_prefix([CHUNK]).keys() {
        let Some(key) = chunked_key(&item?) else { continue };
        let count = chunked.entry(key).or_default();
        *count = count.saturating_add(1);
    }
    Ok(chunked)
}

enum StoredValue<'a> {
    Whole(&'a [u8]),
    Chunked(u32),
}

impl<'a> StoredValue<'a> {
    fn read(stored: &'a [u8]) -> Option<Self> {
        let mut fields = ByteReader::new(stored);
        match fields.u8()? {
            WHOLE => Some(Self::Whole(fields.rest())),
            CHUNKED => fields.u32().map(Self::Chunked),
            _ => None,
        }
    }
}

fn stage_value(out: &mut SledBatch, key: &[u8], value: &[u8]) -> u32 {
    if value.len() <= VALUE_BYTES_MAX {
        out.insert(entry_key(key), [&[WHOLE], value].concat());
        return 0;
    }
    let mut count: u32 = 0;
    for chunk in value.chunks(CHUNK_BYTES) {
        out.insert(chunk_key(key, count), chunk);
        count = count.saturating_add(1);
    }
    out.insert(entry_key(key), [&[CHUNKED], count.to_le_bytes().as_slice()].concat());
    count
}

fn entry_key(key: &[u8]) -> Vec<u8> {
    [&[ENTRY], key].concat()
}

/// Returns the stored key of a chunk. The length is first, so no key's chunks lie among another's.
fn chunk_key(key: &[u8], number: u32) -> Vec<u8> {
    let length = u32::try_from(key.len()).unwrap_or(u32::MAX);
    [&[CHUNK], length.to_be_bytes().as_slice(), key, &number.to_be_bytes()].concat()
}

fn chunked_key(stored: &[u8]) -> Option<Vec<u8>> {
    let mut fields = ByteReader::new(stored.get(1..)?);
    let length = u32::from_be_bytes(fields.array()?);
    fields.take(usize::try_from(length).ok()?).map(<[u8]>::to_vec)
}

fn to_index_error(path: &Path, error: ::sled::Error) -> IndexError {
    if let ::sled::Error::Io(source) = error {
        return IndexError::Io { path: path.to_owned(), source: plain(source) };
    }
    corrupt(path, &error.to_string())
}

/// Returns the error in words for people. sled repeats an error of the system as text of its `Debug`.
fn plain(error: io::Error) -> io::Error {
    let is_repeated = error.to_string().starts_with("Os {");
    if is_repeated { io::Error::from(error.kind()) } else { error }
}

fn corrupt(path: &Path, why: &str) -> IndexError {
    IndexError::Corrupt { path: path.to_owned(), why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_system_has_words_for_people() {
        let full = io::Error::from_raw_os_error(28);
        let repeated = io::Error::new(full.kind(), format!("{full:?}"));
        let text = to_index_error(Path::new("sled"), ::sled::Error::Io(repeated)).to_string();
        assert_eq!(text, "use the index in sled: no storage space");
        let text = to_index_error(Path::new("sled"), ::sled::Error::Io(full)).to_string();
        assert!(text.contains("No space left on device"), "{text}");
    }

    #[test]
    fn the_chunks_of_a_former_process_are_known_and_taken_away() {
        let dir = tempfile::tempdir().unwrap();
        let put = |index: &SledIndex, length: usize| {
            let mut batch = Batch::new();
            batch.put("long", vec![b'x'; length]);
            batch.put("short", "1");
            index.apply(batch).unwrap();
        };
        let chunks = |index: &SledIndex| index.db.scan_prefix([CHUNK]).count();
        let index = SledIndex::open(dir.path()).unwrap();
        put(&index, 50_000);
        assert_eq!(chunks(&index), 13);
        drop(index);
        let index = SledIndex::open(dir.path()).unwrap();
        let known: Vec<_> = index.chunked.read().clone().into_iter().collect();
        assert_eq!(known, [(b"long".to_vec(), 13)]);
        put(&index, 9_000);
        assert_eq!(chunks(&index), 3);
        put(&index, 1);
        assert_eq!((chunks(&index), index.chunked.read().len()), (0, 0));
    }
}
