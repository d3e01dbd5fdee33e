//! What is about to be done and is looked at again meanwhile: it is not promised any more.
//!
//! Between a plan and the promise of an effect there can be minutes: a shut breaker, a full bucket, a look at the
//! service. A file that comes back within them is believed, not the plan from before it.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::base::id::Key;

/// The resources whose steps were made again while a task of theirs was under way.
#[derive(Debug, Default)]
pub(super) struct Recalled(Mutex<BTreeSet<Key>>);

impl Recalled {
    /// A task begins with the step as it is now.
    pub(super) fn begin(&self, key: &Key) {
        self.keys().remove(key);
    }

    /// The step was made again.
    pub(super) fn note(&self, key: &Key) {
        self.keys().insert(key.clone());
    }

    /// Whether the step that a task began with may not be the step any more.
    pub(super) fn holds(&self, key: &Key) -> bool {
        self.keys().contains(key)
    }

    fn keys(&self) -> MutexGuard<'_, BTreeSet<Key>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
