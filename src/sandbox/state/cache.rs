//! Cache of parsed merchants and policies, which nearly every request reads.
//!
//! The index stays the source of truth. A unit of change reads its own writes from its own batch.
//! Applied changes are evicted here and read again. Only stored values are cached, so an absent
//! value needs no eviction.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::merchants::merchant::MerchantRecord;
use crate::sandbox::merchants::policy::MerchantPolicy;
use crate::sandbox::merchants::{merchant, policy};
use crate::store::index::ordered::Batch;

/// Parsed values by key.
pub(crate) struct ParsedCache<T> {
    /// Common prefix of its keys.
    prefix: &'static str,
    parsed: Mutex<BTreeMap<String, Arc<T>>>,
}

impl<T> ParsedCache<T> {
    fn of(prefix: &'static str) -> Self {
        Self { prefix, parsed: Mutex::default() }
    }

    fn lock_parsed(&self) -> MutexGuard<'_, BTreeMap<String, Arc<T>>> {
        self.parsed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the value of a key, parsed once. An absent value is not cached.
    pub(crate) fn get(
        &self,
        key: &str,
        read: impl FnOnce() -> Result<Option<T>, SandboxRefusal>,
    ) -> Result<Option<Arc<T>>, SandboxRefusal> {
        if let Some(known) = self.lock_parsed().get(key) {
            return Ok(Some(known.clone()));
        }
        let found = read()?.map(Arc::new);
        if let Some(found) = &found {
            self.lock_parsed().insert(key.to_owned(), found.clone());
        }
        Ok(found)
    }

    /// Evicts the keys that a batch changes.
    fn forget(&self, batch: &Batch) {
        for (key, _) in batch.changes_under(self.prefix.as_bytes()) {
            self.lock_parsed().remove(String::from_utf8_lossy(key).as_ref());
        }
    }
}

impl<T> fmt::Debug for ParsedCache<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shelf").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

/// The caches of a sandbox.
#[derive(Debug)]
pub(crate) struct ParsedCaches {
    pub(crate) merchants: ParsedCache<MerchantRecord>,
    pub(crate) policies: ParsedCache<MerchantPolicy>,
}

impl Default for ParsedCaches {
    fn default() -> Self {
        let (merchants, policies) =
            (ParsedCache::of(merchant::RECORDS), ParsedCache::of(policy::POLICIES));
        Self { merchants, policies }
    }
}

impl ParsedCaches {
    /// Evicts the keys that a batch changes; called before the batch is applied, so that nothing
    /// reads in between.
    pub(crate) fn forget(&self, batch: &Batch) {
        self.merchants.forget(batch);
        self.policies.forget(batch);
    }

    /// Evicts everything.
    pub(crate) fn clear(&self) {
        self.merchants.lock_parsed().clear();
        self.policies.lock_parsed().clear();
    }
}
