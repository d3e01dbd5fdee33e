//! An index that collects small changes in memory and passes them together to the index behind it.
//!
//! Why it exists: every commit of the journal is folded, and sled wakes all its threads for each
//! batch, however small. Waiting loses nothing: changes that a crash loses are folded again from
//! the journal, like changes that sled had not written yet.
//!
//! Recent reads are cached, also keys without a value: a flood of posts reads the same few entries,
//! and ids never seen before.
//!
//! Guarantees: those of every index. An applied batch is visible at once. The index behind holds a
//! whole number of batches, in their order.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::mem;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use crate::base::bulk::recent::Recent;
use crate::store::index::ordered::{Batch, Index, IndexResult, KeyValue, ScanResult, range};

/// Number of changes that are passed on together. sled frees what a batch replaced only after the
/// batch: 8,192 changes at once took twenty times the memory of 256, and more time.
const CHANGES_MAX: usize = 256;
/// The least number of entries that a scan reads at once.
const PAGE_MIN: usize = 16;
/// Number of bytes after which waiting changes are passed on.
const BYTES_MAX: usize = 2 << 20;

#[derive(Debug)]
pub struct BufferedIndex {
    waiting: RwLock<PendingChanges>,
    /// Recent reads of the index behind: used after the changes, while the lock on them is held.
    recent: Mutex<ReadCache>,
}

#[derive(Debug)]
struct PendingChanges {
    behind: Arc<dyn Index>,
    changes: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    bytes: usize,
}

impl BufferedIndex {
    pub fn new(behind: Arc<dyn Index>) -> Self {
        let waiting = PendingChanges { behind, changes: BTreeMap::new(), bytes: 0 };
        Self { waiting: RwLock::new(waiting), recent: Mutex::default() }
    }

    /// Replaces the index behind this one by `fresh`, and returns the former one. `fresh` must hold
    /// everything that was applied here, except the entries under `own`, which are copied. Reads
    /// and writes wait meanwhile.
    pub fn exchange(
        &self,
        fresh: Arc<dyn Index>,
        own: &[u8],
        except: &[u8],
    ) -> IndexResult<Arc<dyn Index>> {
        let mut waiting = self.waiting.write();
        waiting.pass_on()?;
        let mut copied = Batch::new();
        for (key, value) in waiting.behind.scan(own)?.into_iter().filter(|(key, _)| key != except) {
            copied.put(key, value);
        }
        fresh.apply(copied)?;
        *self.recent.lock() = ReadCache::default();
        Ok(mem::replace(&mut waiting.behind, fresh))
    }

    /// Passes on all waiting changes; they may not be durable in the index behind.
    pub fn pass_on(&self) -> IndexResult {
        self.waiting.write().pass_on()
    }
}

impl PendingChanges {
    /// Passes on all changes. Readers wait, so that none misses a change that is in neither place.
    fn pass_on(&mut self) -> IndexResult {
        let changes = mem::take(&mut self.changes);
        self.bytes = 0;
        if changes.is_empty() { Ok(()) } else { self.behind.apply(Batch { changes }) }
    }

    fn add(&mut self, batch: Batch, recent: &mut ReadCache) {
        for (key, change) in batch.changes {
            recent.remove(&key);
            let length = key.len().saturating_add(change.as_ref().map_or(0, Vec::len));
            self.bytes = self.bytes.saturating_add(length);
            self.changes.insert(key, change);
        }
    }
}

impl Index for BufferedIndex {
    fn get(&self, key: &[u8]) -> IndexResult<Option<Vec<u8>>> {
        let waiting = self.waiting.read();
        if let Some(change) = waiting.changes.get(key) {
            return Ok(change.clone());
        }
        if let Some(known) = self.recent.lock().get(key) {
            return Ok(known.clone());
        }
        let value = waiting.behind.get(key)?;
        self.recent.lock().insert(key, value.as_deref());
        Ok(value)
    }

    fn with_value(&self, key: &[u8], see: &mut dyn FnMut(&[u8])) -> IndexResult {
        let waiting = self.waiting.read();
        if let Some(change) = waiting.changes.get(key) {
            change.as_deref().into_iter().for_each(see);
            return Ok(());
        }
        if let Some(known) = self.recent.lock().get(key) {
            known.as_deref().into_iter().for_each(see);
            return Ok(());
        }
        waiting.behind.with_value(key, see)
    }

    fn scan_from(&self, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> ScanResult {
        let waiting = self.waiting.read();
        let mut changed = range(&waiting.changes, prefix, after).peekable();
        let (mut entries, mut from) = (Vec::new(), after.map(<[u8]>::to_vec));
        loop {
            let page = limit.saturating_sub(entries.len()).max(PAGE_MIN);
            let behind = waiting.behind.scan_from(prefix, from.as_deref(), page)?;
            let is_last = behind.len() < page;
            from = behind.last().map(|(key, _)| key.clone()).or(from);
            let end = from.as_deref().filter(|_| !is_last);
            merge(behind, &mut changed, (end, limit), &mut entries);
            if is_last || entries.len() >= limit {
                return Ok(entries);
            }
        }
    }

    fn apply(&self, batch: Batch) -> IndexResult {
        let batch = batch.check_keys()?;
        let mut waiting = self.waiting.write();
        waiting.add(batch, &mut self.recent.lock());
        let full = waiting.changes.len() >= CHANGES_MAX || waiting.bytes >= BYTES_MAX;
        if full { waiting.pass_on() } else { Ok(()) }
    }

    fn flush(&self) -> IndexResult {
        let behind = {
            let mut waiting = self.waiting.write();
            waiting.pass_on()?;
            Arc::clone(&waiting.behind)
        };
        behind.flush()
    }
}

/// Appends the entries behind, with the changes laid over them, up to the key `end`; in key order.
fn merge<'a>(
    behind: Vec<KeyValue>,
    changed: &mut Peekable<impl Iterator<Item = (&'a Vec<u8>, &'a Option<Vec<u8>>)>>,
    (end, limit): (Option<&[u8]>, usize),
    entries: &mut Vec<KeyValue>,
) {
    let mut behind = behind.into_iter().peekable();
    while entries.len() < limit {
        let next = changed.peek().filter(|(key, _)| end.is_none_or(|end| key.as_slice() <= end));
        let older = match (behind.peek(), next) {
            (None, None) => break,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some((old, _)), Some((new, _))) => old < *new,
        };
        if older {
            entries.extend(behind.next());
        } else if let Some((key, change)) = changed.next() {
            behind.next_if(|(old, _)| old == key);
            entries.extend(change.clone().map(|value| (key.clone(), value)));
        }
    }
}

const GENERATION_MAX: usize = 1024;
/// Longer values are not cached.
const VALUE_BYTES_MAX: usize = 2 << 10;

/// Keys with their values, or known to have none.
#[derive(Debug)]
pub(crate) struct ReadCache(Recent<Vec<u8>, Option<Vec<u8>>>);

impl Default for ReadCache {
    fn default() -> Self {
        Self(Recent::new(GENERATION_MAX))
    }
}

impl ReadCache {
    /// Returns the cached value of a key; the inner `None` means that the key has no value.
    pub(crate) fn get(&mut self, key: &[u8]) -> Option<&Option<Vec<u8>>> {
        self.0.get(key)
    }

    pub(crate) fn insert(&mut self, key: &[u8], value: Option<&[u8]>) {
        if value.is_none_or(|value| value.len() <= VALUE_BYTES_MAX) {
            self.0.insert(key.to_owned(), value.map(<[u8]>::to_vec));
        }
    }

    pub(crate) fn remove(&mut self, key: &[u8]) {
        self.0.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_stays_and_the_rest_is_forgotten() {
        let mut recent = ReadCache::default();
        recent.insert(b"often", Some(b"1"));
        for number in 0..10 * GENERATION_MAX {
            recent.insert(number.to_string().as_bytes(), None);
            assert_eq!(recent.get(b"often"), Some(&Some(b"1".to_vec())), "{number}");
        }
        assert_eq!(recent.get(b"0"), None);
        assert_eq!(recent.get((10 * GENERATION_MAX - 1).to_string().as_bytes()), Some(&None));
        assert!(recent.0.len() <= 2 * GENERATION_MAX);
    }

    #[test]
    fn what_changes_or_is_long_is_not_known() {
        let mut recent = ReadCache::default();
        recent.insert(b"a", Some(b"1"));
        recent.remove(b"a");
        recent.insert(b"long", Some(&[0; VALUE_BYTES_MAX + 1]));
        assert_eq!(recent.get(b"a"), None);
        assert_eq!(recent.get(b"long"), None);
    }
}
