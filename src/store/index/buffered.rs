//! An index whose small changes are gathered in memory and reach the one behind it together.
//!
//! Why it exists: behind every commit of the journal stands a fold, and sled wakes all its threads for each batch,
//! however small. Nothing is lost by waiting: what a crash takes is folded again from the journal, as what sled had
//! not written yet is.
//!
//! What was read of late is kept beside it, also that there is nothing: behind a flood of posts stand the same few
//! entries, and ids that nobody has seen.
//!
//! Guarantees: those of every index. What was applied is seen at once; the index behind has a whole number of batches,
//! in their order.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::recent::Recent;
use super::{Batch, Entry, Index, IndexError, range};

/// So many changes go on together. sled frees what a batch replaced only after the batch: 8,192 changes at once took twenty
/// times the memory of 256, and more time.
const CHANGES_MAX: usize = 256;
/// The least number of entries that a scan reads at once.
const PAGE_MIN: usize = 16;
/// Or so many bytes of them.
const BYTES_MAX: usize = 2 << 20;

/// Changes that wait, before another index.
#[derive(Debug)]
pub struct Buffered {
    waiting: RwLock<Waiting>,
    /// What the index behind answered. Looked at only behind the changes, and only by who holds them.
    recent: Mutex<Recent>,
}

#[derive(Debug)]
struct Waiting {
    /// Where they go.
    behind: Arc<dyn Index>,
    changes: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    bytes: usize,
}

impl Buffered {
    /// Nothing waits yet.
    pub fn new(behind: Arc<dyn Index>) -> Self {
        let waiting = Waiting { behind, changes: BTreeMap::new(), bytes: 0 };
        Self { waiting: RwLock::new(waiting), recent: Mutex::default() }
    }

    /// Puts another index behind this one, which holds everything that was applied here but for the entries under
    /// `own`: these are copied. Answers the one before. Nobody reads or writes meanwhile.
    pub fn exchange(
        &self,
        fresh: Arc<dyn Index>,
        own: &[u8],
        except: &[u8],
    ) -> Result<Arc<dyn Index>, IndexError> {
        let mut waiting = self.writing();
        waiting.hand_on()?;
        let mut copied = Batch::new();
        for (key, value) in waiting.behind.scan(own)?.into_iter().filter(|(key, _)| key != except) {
            copied.put(key, value);
        }
        fresh.apply(copied)?;
        *self.recent() = Recent::default();
        Ok(std::mem::replace(&mut waiting.behind, fresh))
    }

    /// Hands on everything that waits; it may not be durable behind.
    pub fn hand_on(&self) -> Result<(), IndexError> {
        self.writing().hand_on()
    }

    fn reading(&self) -> RwLockReadGuard<'_, Waiting> {
        self.waiting.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn writing(&self) -> RwLockWriteGuard<'_, Waiting> {
        self.waiting.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn recent(&self) -> MutexGuard<'_, Recent> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// Hands everything on. Nobody reads meanwhile, so that nobody misses what is in neither place.
    fn hand_on(&mut self) -> Result<(), IndexError> {
        let changes = std::mem::take(&mut self.changes);
        self.bytes = 0;
        if changes.is_empty() { Ok(()) } else { self.behind.apply(Batch { changes }) }
    }

    fn take_in(&mut self, batch: Batch, recent: &mut Recent) {
        for (key, change) in batch {
            recent.forget(&key);
            let length = key.len().saturating_add(change.as_ref().map_or(0, Vec::len));
            self.bytes = self.bytes.saturating_add(length);
            self.changes.insert(key, change);
        }
    }

    fn is_full(&self) -> bool {
        self.changes.len() >= CHANGES_MAX || self.bytes >= BYTES_MAX
    }
}

impl Index for Buffered {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, IndexError> {
        let waiting = self.reading();
        if let Some(change) = waiting.changes.get(key) {
            return Ok(change.clone());
        }
        if let Some(known) = self.recent().get(key) {
            return Ok(known.clone());
        }
        let value = waiting.behind.get(key)?;
        self.recent().note(key, value.as_deref());
        Ok(value)
    }

    fn see(&self, key: &[u8], see: &mut dyn FnMut(&[u8])) -> Result<(), IndexError> {
        let waiting = self.reading();
        if let Some(change) = waiting.changes.get(key) {
            change.as_deref().into_iter().for_each(see);
            return Ok(());
        }
        if let Some(known) = self.recent().get(key) {
            known.as_deref().into_iter().for_each(see);
            return Ok(());
        }
        waiting.behind.see(key, see)
    }

    fn scan_from(
        &self,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Entry>, IndexError> {
        let waiting = self.reading();
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

    fn apply(&self, batch: Batch) -> Result<(), IndexError> {
        let batch = batch.checked()?;
        let mut waiting = self.writing();
        waiting.take_in(batch, &mut self.recent());
        if waiting.is_full() { waiting.hand_on() } else { Ok(()) }
    }

    fn flush(&self) -> Result<(), IndexError> {
        let behind = {
            let mut waiting = self.writing();
            waiting.hand_on()?;
            Arc::clone(&waiting.behind)
        };
        behind.flush()
    }
}

/// Adds entries behind with the changes laid over them, in key order, up to the key `end` where there is one.
fn merge<'a>(
    behind: Vec<Entry>,
    changed: &mut Peekable<impl Iterator<Item = (&'a Vec<u8>, &'a Option<Vec<u8>>)>>,
    (end, limit): (Option<&[u8]>, usize),
    entries: &mut Vec<Entry>,
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
