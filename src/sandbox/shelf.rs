//! Cache of parsed merchants and policies, which nearly every request reads.
//!
//! The index stays the source of truth. A unit of change reads its own writes from its own batch.
//! Applied changes are evicted here and read again. Only stored values are cached, so an absent
//! value needs no eviction.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::sandbox::merchants::{self, MerchantRecord};
use crate::sandbox::policy::{self, Policy};
use crate::sandbox::refusal::Refusal;
use crate::store::index::Batch;

/// Parsed values by key.
pub(crate) struct Shelf<T> {
    /// Common prefix of its keys.
    prefix: &'static str,
    parsed: Mutex<BTreeMap<String, Arc<T>>>,
}

impl<T> Shelf<T> {
    fn of(prefix: &'static str) -> Self {
        Self { prefix, parsed: Mutex::default() }
    }

    fn parsed(&self) -> MutexGuard<'_, BTreeMap<String, Arc<T>>> {
        self.parsed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the value of a key, parsed once. An absent value is not cached.
    pub(crate) fn get(
        &self,
        key: &str,
        read: impl FnOnce() -> Result<Option<T>, Refusal>,
    ) -> Result<Option<Arc<T>>, Refusal> {
        if let Some(known) = self.parsed().get(key) {
            return Ok(Some(known.clone()));
        }
        let found = read()?.map(Arc::new);
        if let Some(found) = &found {
            self.parsed().insert(key.to_owned(), found.clone());
        }
        Ok(found)
    }

    /// Evicts the keys that a batch changes.
    fn forget(&self, batch: &Batch) {
        for (key, _) in batch.under(self.prefix.as_bytes()) {
            self.parsed().remove(String::from_utf8_lossy(key).as_ref());
        }
    }
}

impl<T> fmt::Debug for Shelf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shelf").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

/// The caches of a sandbox.
#[derive(Debug)]
pub(crate) struct Shelves {
    pub(crate) merchants: Shelf<MerchantRecord>,
    pub(crate) policies: Shelf<Policy>,
}

impl Default for Shelves {
    fn default() -> Self {
        let (merchants, policies) = (Shelf::of(merchants::RECORDS), Shelf::of(policy::POLICIES));
        Self { merchants, policies }
    }
}

impl Shelves {
    /// Evicts the keys that a batch changes; called before the batch is applied, so that nothing
    /// reads in between.
    pub(crate) fn forget(&self, batch: &Batch) {
        self.merchants.forget(batch);
        self.policies.forget(batch);
    }

    /// Evicts everything.
    pub(crate) fn clear(&self) {
        self.merchants.parsed().clear();
        self.policies.parsed().clear();
    }
}
