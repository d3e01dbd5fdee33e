//! The resources that new records changed, so that the owner of a copy knows which of its entries
//! are old.
//!
//! The fold notes a resource whenever a record changes its observed state. The owner of a copy
//! takes the notes and reads these resources again. So no copy depends on the writer of a record to
//! report the change.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::id::Key;

/// The notes. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct ChangedResources(Arc<Mutex<BTreeSet<Key>>>);

impl ChangedResources {
    /// Notes these resources.
    pub(crate) fn note(&self, keys: impl IntoIterator<Item = Key>) {
        self.keys().extend(keys);
    }

    /// Takes every note.
    pub fn take(&self) -> BTreeSet<Key> {
        std::mem::take(&mut *self.keys())
    }

    /// Removes the note of one resource, which is about to be read again.
    pub fn forget(&self, key: &Key) {
        self.keys().remove(key);
    }

    fn keys(&self) -> MutexGuard<'_, BTreeSet<Key>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
