//! Drops a queued effect whose resource was re-planned before its intent was written.
//!
//! Minutes can pass between a plan and the intent of an effect: an open breaker, an empty bucket, a
//! read of the service. A file that changes within them counts, and the earlier plan does not.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::base::id::Key;

/// The resources that were re-planned while a task of theirs was under way.
#[derive(Debug, Default)]
pub(crate) struct Superseded(Mutex<BTreeSet<Key>>);

impl Superseded {
    /// Notes that a task begins with the present step.
    pub(crate) fn begin(&self, key: &Key) {
        self.keys().remove(key);
    }

    /// Notes that the step was re-planned.
    pub(crate) fn note(&self, key: &Key) {
        self.keys().insert(key.clone());
    }

    /// Returns true if the step with which a task began may be outdated.
    pub(crate) fn contains(&self, key: &Key) -> bool {
        self.keys().contains(key)
    }

    fn keys(&self) -> MutexGuard<'_, BTreeSet<Key>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
