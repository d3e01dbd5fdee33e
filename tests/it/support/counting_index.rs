//! An index that counts the reads of hooks' actions and failures.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use reckon::store::index::ordered::{Batch, Index, IndexError, KeyValue, MemoryIndex};

/// The counted index, and the number of reads.
#[derive(Debug)]
pub(crate) struct Counting {
    pub(crate) behind: Arc<MemoryIndex>,
    pub(crate) reads: Arc<AtomicU64>,
}

impl Counting {
    fn count(&self, key: &[u8]) {
        if key.starts_with(b"w/p/") || key.starts_with(b"w/f/") {
            self.reads.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Index for Counting {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, IndexError> {
        self.count(key);
        self.behind.get(key)
    }

    fn scan_from(
        &self,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<KeyValue>, IndexError> {
        let found = self.behind.scan_from(prefix, after, limit)?;
        for (key, _) in &found {
            self.count(key);
        }
        Ok(found)
    }

    fn apply(&self, batch: Batch) -> Result<(), IndexError> {
        self.behind.apply(batch)
    }

    fn flush(&self) -> Result<(), IndexError> {
        self.behind.flush()
    }
}
