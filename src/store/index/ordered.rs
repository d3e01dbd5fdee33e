//! Ordered keys and values that can always be rebuilt from the journal.
//!
//! Why it exists: the fold is a pure function into this interface. So the same fold runs over sled
//! in production and over a map in the simulator, and the store behind it can be exchanged.
//!
//! Guarantees: a batch is applied as a whole or not at all, also over a crash, and a scan never
//! sees half of a batch. Durability is not guaranteed: a reader that needs it reads the journal.

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, fmt::Debug, io, ops::Bound, path::PathBuf};

use parking_lot::RwLock;

/// The longest key, in bytes.
pub const KEY_BYTES_MAX: usize = 1024;

pub type KeyValue = (Vec<u8>, Vec<u8>);
pub type IndexResult<T = ()> = Result<T, IndexError>;
/// Entries of a scan, in order.
pub type ScanResult = IndexResult<Vec<KeyValue>>;

pub trait Index: Send + Sync + Debug {
    fn get(&self, key: &[u8]) -> IndexResult<Option<Vec<u8>>>;

    /// Passes the value of a key, if it exists, to `see`, without copying it where possible.
    fn with_value(&self, key: &[u8], see: &mut dyn FnMut(&[u8])) -> IndexResult {
        if let Some(value) = self.get(key)? {
            see(&value);
        }
        Ok(())
    }

    /// Returns up to `limit` entries whose key begins with `prefix`, in order, behind `after`.
    fn scan_from(&self, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> ScanResult;

    /// Applies a batch as a whole or not at all.
    fn apply(&self, batch: Batch) -> IndexResult;

    /// Writes everything through to the disk, for a clean stop.
    fn flush(&self) -> IndexResult;

    /// Returns the number of entries whose key begins with `prefix`.
    fn count(&self, prefix: &[u8]) -> IndexResult<usize> {
        Ok(self.scan(prefix)?.len())
    }

    fn scan(&self, prefix: &[u8]) -> ScanResult {
        self.scan_from(prefix, None, usize::MAX)
    }
}

/// Changes that are applied together. The last change of a key counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    pub(crate) changes: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

impl Batch {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn put(&mut self, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) {
        self.changes.insert(key.into(), Some(value.into()));
    }

    pub fn remove(&mut self, key: impl Into<Vec<u8>>) {
        self.changes.insert(key.into(), None);
    }

    /// Returns the value that a key will have once this batch is applied to `index`.
    pub fn get(&self, index: &dyn Index, key: &[u8]) -> IndexResult<Option<Vec<u8>>> {
        match self.changes.get(key) {
            Some(change) => Ok(change.clone()),
            None => index.get(key),
        }
    }

    /// Passes the value that a key will have once this batch is applied, if any, to `see`.
    pub fn with_value(
        &self,
        index: &dyn Index,
        key: &[u8],
        see: &mut dyn FnMut(&[u8]),
    ) -> IndexResult {
        match self.changes.get(key) {
            Some(change) => {
                change.as_deref().into_iter().for_each(see);
                Ok(())
            }
            None => index.with_value(key, see),
        }
    }

    /// Returns up to `limit` entries under `prefix`, behind `after`, as this batch will leave them.
    pub fn scan_from(
        &self,
        index: &dyn Index,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> ScanResult {
        let changed: Vec<_> = range(&self.changes, prefix, after).collect();
        // The batch removes at most as many entries of the index as it changes.
        let behind = index.scan_from(prefix, after, limit.saturating_add(changed.len()))?;
        let mut entries: BTreeMap<_, _> = behind.into_iter().collect();
        for (key, change) in changed {
            match change {
                Some(value) => entries.insert(key.clone(), value.clone()),
                None => entries.remove(key),
            };
        }
        Ok(entries.into_iter().take(limit).collect())
    }

    /// Returns the number of entries under `prefix` as this batch will leave them.
    pub fn count(&self, index: &dyn Index, prefix: &[u8]) -> IndexResult<usize> {
        let mut count = index.count(prefix)?;
        for (key, change) in self.changes_under(prefix) {
            let mut is_known = false;
            index.with_value(key, &mut |_| is_known = true)?;
            count = match (is_known, change) {
                (false, Some(_)) => count.saturating_add(1),
                (true, None) => count.saturating_sub(1),
                (true, Some(_)) | (false, None) => count,
            };
        }
        Ok(count)
    }

    /// Returns the changes of keys under `prefix`, in key order; no value means removal.
    pub fn changes_under<'a>(
        &'a self,
        prefix: &'a [u8],
    ) -> impl Iterator<Item = (&'a Vec<u8>, &'a Option<Vec<u8>>)> {
        range(&self.changes, prefix, None)
    }

    pub fn changes_key(&self, key: &[u8]) -> bool {
        self.changes.contains_key(key)
    }

    pub fn len(&self) -> usize {
        self.changes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns the batch if no key is longer than [`KEY_BYTES_MAX`].
    pub(crate) fn check_keys(self) -> IndexResult<Self> {
        match self.changes.keys().find(|key| key.len() > KEY_BYTES_MAX) {
            Some(key) => Err(IndexError::KeyTooLong { bytes: key.len(), limit: KEY_BYTES_MAX }),
            None => Ok(self),
        }
    }
}

#[derive(Debug, Default)]
pub struct MemoryIndex(RwLock<BTreeMap<Vec<u8>, Vec<u8>>>);

impl MemoryIndex {
    pub fn new() -> Self {
        Self::default()
    }
}

impl Index for MemoryIndex {
    fn get(&self, key: &[u8]) -> IndexResult<Option<Vec<u8>>> {
        Ok(self.0.read().get(key).cloned())
    }

    fn with_value(&self, key: &[u8], see: &mut dyn FnMut(&[u8])) -> IndexResult {
        self.0.read().get(key).map(Vec::as_slice).into_iter().for_each(see);
        Ok(())
    }

    fn scan_from(&self, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> ScanResult {
        let entries = self.0.read();
        let found = range(&entries, prefix, after).take(limit);
        Ok(found.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    fn apply(&self, batch: Batch) -> IndexResult {
        let batch = batch.check_keys()?;
        let mut entries = self.0.write();
        for (key, change) in batch.changes {
            match change {
                Some(value) => entries.insert(key, value),
                None => entries.remove(&key),
            };
        }
        Ok(())
    }

    fn flush(&self) -> IndexResult {
        Ok(())
    }
}

/// Returns the entries under a prefix, behind the key `after`.
pub(crate) fn range<'a, V>(
    entries: &'a BTreeMap<Vec<u8>, V>,
    prefix: &'a [u8],
    after: Option<&'a [u8]>,
) -> impl Iterator<Item = (&'a Vec<u8>, &'a V)> {
    entries
        .range::<[u8], _>((lower(prefix, after), Bound::Unbounded))
        .take_while(move |(key, _)| key.starts_with(prefix))
}

/// Returns the start of a scan: the prefix, or a key within the prefix or beyond it.
pub(crate) fn lower<'a>(prefix: &'a [u8], after: Option<&'a [u8]>) -> Bound<&'a [u8]> {
    match after {
        Some(after) if after >= prefix => Bound::Excluded(after),
        Some(_) | None => Bound::Included(prefix),
    }
}

#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The stored data cannot be trusted. Move the folder aside and rebuild it from the journal.
    #[error("read the index in {path}: it is damaged ({why}); it is rebuilt from the journal")]
    Corrupt { path: PathBuf, why: String },
    /// A record of a log does not have its checksum.
    #[error(
        "read the log {path}: the record at byte {at} is damaged; put a copy of it in its place, or \
        remove its folder to start over"
    )]
    DamagedLog { path: PathBuf, at: u64 },
    #[error("use the index in {path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    /// A key is too long; nothing was changed.
    #[error("change the index: a key of {bytes} bytes is longer than {limit}")]
    KeyTooLong { bytes: usize, limit: usize },
}
