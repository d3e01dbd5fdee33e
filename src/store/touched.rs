//! The resources that records spoke of: how the owner of a copy learns which of its entries are old.
//!
//! The fold notes a resource whenever a record changes what is known of it. Whoever keeps a copy takes the notes and
//! reads these resources again, so that no copy depends on the writer of a record remembering to say so.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::id::Key;

/// The notes. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Touched(Arc<Mutex<BTreeSet<Key>>>);

impl Touched {
    /// Notes these resources.
    pub(super) fn note(&self, keys: impl IntoIterator<Item = Key>) {
        self.keys().extend(keys);
    }

    /// Takes every note.
    pub fn take(&self) -> BTreeSet<Key> {
        std::mem::take(&mut *self.keys())
    }

    /// Forgets the note of one resource: it is about to be read again.
    pub fn forget(&self, key: &Key) {
        self.keys().remove(key);
    }

    fn keys(&self) -> MutexGuard<'_, BTreeSet<Key>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
