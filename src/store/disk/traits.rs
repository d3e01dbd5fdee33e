//! The seam between the store and a disk that can fail, and the fixed-width fields in stored bytes.
//!
//! Why it exists: the same journal and vault run over real files and over the simulator's failing
//! disk. A disk is one flat directory of named files.
//!
//! Contract: `write_at` is durable only after `sync` of that file; `cut`, `remove`, `replace`,
//! `rename` and `allocate` are durable when they return. `replace` and `rename` are all or nothing.
//! After an error the content that was written is unknown.
//!
//! All integers on disk are little-endian. Reading past the end returns `None` and never panics,
//! since the bytes may be damaged.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;

pub trait Disk: Send + Sync + Debug {
    /// Lists the names of all files, in no order, without those that begin with a dot.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Returns the length of a file in bytes; `NotFound` if it does not exist.
    fn len(&self, name: &str) -> io::Result<u64>;

    /// Reads up to `len` bytes from `offset`; fewer at the end of the file.
    fn read_at(&self, name: &str, offset: u64, len: usize) -> io::Result<Vec<u8>>;

    /// Writes all of `bytes` at `offset`; creates the file if it does not exist.
    fn write_at(&self, name: &str, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Makes all writes to the file durable, its name included.
    fn sync(&self, name: &str) -> io::Result<()>;

    /// Makes all writes to these files durable, in no order among them.
    fn sync_all(&self, names: &[&str]) -> io::Result<()> {
        names.iter().try_for_each(|name| self.sync(name))
    }

    /// Shortens the file to `len` bytes, durably.
    fn cut(&self, name: &str, len: u64) -> io::Result<()>;

    /// Removes the file, durably.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Replaces or creates a file as a whole. After a crash the content is the old or the new one.
    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()>;

    /// Renames a file, durably; replaces an existing `to`. The content must be durable before.
    fn rename(&self, name: &str, to: &str) -> io::Result<()>;

    /// Extends the file with written zeros to at least `len` bytes; creates it if it does not
    /// exist. A later sync of bytes inside it then changes no metadata.
    fn allocate(&self, name: &str, len: u64) -> io::Result<()>;

    /// Returns the free bytes of its file system for this process; `None` if they are not known.
    fn free_bytes(&self) -> Option<u64> {
        None
    }
}

/// A disk in memory: shared by its clones, and every write is durable at once.
#[derive(Debug, Clone, Default)]
pub struct MemoryDisk {
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
}

impl MemoryDisk {
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a disk with the same files that shares nothing with this one.
    #[must_use]
    pub fn copy(&self) -> Self {
        Self { files: Arc::new(Mutex::new(self.files.lock().clone())) }
    }

    fn with<T>(&self, name: &str, act: impl FnOnce(&mut Vec<u8>) -> T) -> io::Result<T> {
        self.files.lock().get_mut(name).map(act).ok_or_else(|| missing(name))
    }
}

impl Disk for MemoryDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.files.lock().keys().cloned().collect())
    }

    fn len(&self, name: &str) -> io::Result<u64> {
        self.with(name, |file| to_u64(file.len()))
    }

    fn read_at(&self, name: &str, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let start = to_usize(offset);
        self.with(name, |file| {
            file.get(start..start.saturating_add(len).min(file.len())).unwrap_or_default().to_vec()
        })
    }

    fn write_at(&self, name: &str, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let start = to_usize(offset);
        let end = start.saturating_add(bytes.len());
        let mut files = self.files.lock();
        let file = files.entry(name.to_owned()).or_default();
        if file.len() < end {
            file.resize(end, 0);
        }
        if let Some(place) = file.get_mut(start..end) {
            place.copy_from_slice(bytes);
        }
        Ok(())
    }

    fn sync(&self, name: &str) -> io::Result<()> {
        self.with(name, |_| ())
    }

    fn cut(&self, name: &str, len: u64) -> io::Result<()> {
        self.with(name, |file| file.truncate(to_usize(len)))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.files.lock().remove(name).map(drop).ok_or_else(|| missing(name))
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.files.lock().insert(name.to_owned(), bytes.to_vec());
        Ok(())
    }

    fn rename(&self, name: &str, to: &str) -> io::Result<()> {
        let mut files = self.files.lock();
        let file = files.remove(name).ok_or_else(|| missing(name))?;
        files.insert(to.to_owned(), file);
        Ok(())
    }

    fn allocate(&self, name: &str, len: u64) -> io::Result<()> {
        let mut files = self.files.lock();
        let file = files.entry(name.to_owned()).or_default();
        file.resize(file.len().max(to_usize(len)), 0);
        Ok(())
    }
}

pub(crate) fn missing(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("there is no file {name}"))
}

#[derive(Debug, Clone)]
pub(crate) struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(head)
    }

    /// Takes the next `N` bytes, by value.
    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn rest(self) -> &'a [u8] {
        self.0
    }
}

/// Converts a length in memory to an offset on disk.
pub(crate) fn to_u64(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Converts an offset on disk to a length in memory. Saturates, and no buffer is that long.
pub(crate) fn to_usize(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

/// Returns true if every byte is zero. Compares a page at a time.
pub(crate) fn is_zero(bytes: &[u8]) -> bool {
    const ZEROS: [u8; 4096] = [0; 4096];
    bytes.chunks(ZEROS.len()).all(|page| ZEROS.starts_with(page))
}

/// Returns the bytes from `offset` on; empty if the offset lies behind the end.
pub(crate) fn bytes_from(bytes: &[u8], offset: usize) -> &[u8] {
    bytes.get(offset..).unwrap_or_default()
}

/// Appends a frame: magic 4 · crc32 4 · length 4 · payload. The checksum covers length and payload.
pub(crate) fn push_frame(out: &mut Vec<u8>, magic: [u8; 4], payload: &[u8]) {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX).to_le_bytes();
    out.extend_from_slice(&magic);
    out.extend_from_slice(&frame_checksum(length, payload).to_le_bytes());
    out.extend_from_slice(&length);
    out.extend_from_slice(payload);
}

pub(crate) fn frame_checksum(length: [u8; 4], payload: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&length);
    crc.update(payload);
    crc.finalize()
}

/// Joins the fields of a header and their crc32, and fills the rest of `length` with zeros.
pub(crate) fn seal_header(fields: &[&[u8]], length: usize) -> Vec<u8> {
    let mut header = fields.concat();
    header.extend_from_slice(&crc32fast::hash(&header).to_le_bytes());
    header.resize(length, 0);
    header
}

/// Returns the fields behind the magic bytes of a header with a valid crc32 over `covered` bytes.
pub(crate) fn open_header(header: &[u8], covered: usize, magic: [u8; 8]) -> Option<ByteReader<'_>> {
    let crc = ByteReader::new(bytes_from(header, covered)).u32()?;
    let covered = header.get(..covered)?;
    let mut fields = ByteReader::new(covered);
    (fields.array()? == magic && crc32fast::hash(covered) == crc).then_some(fields)
}
