//! Small registers that all tasks of a process share.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use tokio::sync::OnceCell;

use crate::base::id::Key;
use crate::kinds::register::READ_BACKS;

/// Merchants with refused credentials while the record of that is being written: no further intent
/// of theirs is written.
#[derive(Debug, Default)]
pub(crate) struct RefusedMerchants(Mutex<BTreeSet<Key>>);

impl RefusedMerchants {
    pub(crate) fn note(&self, merchant: &Key) {
        self.merchants().insert(merchant.clone());
    }

    pub(crate) fn contains(&self, merchant: &Key) -> bool {
        self.merchants().contains(merchant)
    }

    pub(crate) fn forget(&self, merchant: &Key) {
        self.merchants().remove(merchant);
    }

    fn merchants(&self) -> MutexGuard<'_, BTreeSet<Key>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lists by merchant and list name; the cell is set once the list was read.
pub(crate) type ListCells = BTreeMap<(Key, &'static str), Arc<OnceCell<()>>>;

/// The lists that this process has read.
#[derive(Debug, Default)]
pub(crate) struct ReadLists(Mutex<ListCells>);

impl ReadLists {
    pub(crate) fn cell(&self, merchant: &Key, list: &'static str) -> Arc<OnceCell<()>> {
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lists.entry((merchant.clone(), list)).or_default().clone()
    }

    /// Notes that a list was read to its end, and that its unknown objects are recorded.
    pub(crate) fn note_read(&self, merchant: &Key, list: &'static str) {
        // A read that is under way leads to the same cell.
        drop(self.cell(merchant, list).set(()));
    }

    /// Notes that every list of a merchant was read: the survey does that.
    pub(crate) fn note_all_read(&self, merchant: &Key) {
        for back in READ_BACKS {
            self.note_read(merchant, back.list_name);
        }
    }
}

/// Merchants with posts since the engine last read their events.
#[derive(Debug, Default)]
pub(crate) struct UnreadPosts(Mutex<BTreeSet<Key>>);

impl UnreadPosts {
    fn merchants(&self) -> MutexGuard<'_, BTreeSet<Key>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if the engine must be signalled: an earlier signal that it has not handled
    /// covers this post, too.
    pub(crate) fn note(&self, merchant: &Key) -> bool {
        let mut merchants = self.merchants();
        !merchants.contains(merchant) && merchants.insert(merchant.clone())
    }

    /// Requires a new signal for this merchant from now on.
    pub(crate) fn forget(&self, merchant: &Key) {
        self.merchants().remove(merchant);
    }

    /// Returns all merchants.
    pub(crate) fn all(&self) -> BTreeSet<Key> {
        self.merchants().clone()
    }
}

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
