//! Small registers that all tasks of a process share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::OnceCell;

use crate::base::id::Key;
use crate::kinds::register::read_backs;

/// A set of resources that all tasks share.
#[derive(Debug, Default)]
pub(crate) struct KeySet(Mutex<BTreeSet<Key>>);

impl KeySet {
    /// Returns true if the resource is new.
    pub(crate) fn insert(&self, key: &Key) -> bool {
        self.0.lock().insert(key.clone())
    }

    pub(crate) fn contains(&self, key: &Key) -> bool {
        self.0.lock().contains(key)
    }

    pub(crate) fn remove(&self, key: &Key) {
        self.0.lock().remove(key);
    }

    pub(crate) fn all(&self) -> BTreeSet<Key> {
        self.0.lock().clone()
    }
}

/// Lists by merchant and list name; the cell is set once the list was read.
pub(crate) type ListCells = BTreeMap<(Key, &'static str), Arc<OnceCell<()>>>;

#[derive(Debug, Default)]
pub(crate) struct ReadLists(Mutex<ListCells>);

impl ReadLists {
    pub(crate) fn cell(&self, merchant: &Key, list: &'static str) -> Arc<OnceCell<()>> {
        self.0.lock().entry((merchant.clone(), list)).or_default().clone()
    }

    /// Notes that a list was read to its end, and that its unknown objects are recorded.
    pub(crate) fn note_read(&self, merchant: &Key, list: &'static str) {
        // A read that is under way leads to the same cell.
        drop(self.cell(merchant, list).set(()));
    }

    /// Notes that every list of a merchant was read: the survey does that.
    pub(crate) fn note_all_read(&self, merchant: &Key) {
        for back in read_backs() {
            self.note_read(merchant, back.list_name);
        }
    }
}

#[cfg(test)]
mod tests;
