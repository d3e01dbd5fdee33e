//! What nearly every step asks for, parsed once: merchants, and their policies.
//!
//! The index stays the truth. What a unit of change wrote itself is read from its own changes; what is applied is
//! forgotten here and read again. Only what is stored is kept, so that there is nothing to forget twice.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::sandbox::merchants::{self, MerchantRecord};
use crate::sandbox::policy::{self, Policy};
use crate::sandbox::refusal::Refusal;
use crate::store::index::Batch;

/// Parsed values by their keys.
pub(crate) struct Shelf<T> {
    /// What all of its keys begin with.
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

    /// The value of a key, read only if it is not here yet; nothing is kept of one that is not stored.
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

    /// Forgets what a batch changes.
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

/// The shelves of a sandbox.
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
    /// Forgets what a batch changes; called before it is applied, so that nobody reads in between.
    pub(crate) fn forget(&self, batch: &Batch) {
        self.merchants.forget(batch);
        self.policies.forget(batch);
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.merchants.parsed().clear();
        self.policies.parsed().clear();
    }
}
