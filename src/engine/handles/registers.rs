//! Small registers that all tasks of a process share.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OnceCell, mpsc};

use crate::base::id::Key;
use crate::engine::protocol::actions::EffectReport;
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

/// Number of the newest effects that are kept for clients of a daemon.
pub(crate) const EFFECTS_KEPT_MAX: usize = 10_000;

/// The newest effects, and the listener for further ones.
#[derive(Debug, Default)]
pub(crate) struct EffectLog(Mutex<EffectLogState>);

#[derive(Debug, Default)]
pub(crate) struct EffectLogState {
    kept: VecDeque<EffectReport>,
    listener: Option<mpsc::UnboundedSender<EffectReport>>,
}

impl EffectLog {
    fn inner(&self) -> MutexGuard<'_, EffectLogState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends effects to a listener from now on. A second listener replaces the first.
    pub(crate) fn subscribe(&self) -> mpsc::UnboundedReceiver<EffectReport> {
        let (told, effects) = mpsc::unbounded_channel();
        self.inner().listener = Some(told);
        effects
    }

    /// Ends the subscription: its receiver ends.
    pub(crate) fn unsubscribe(&self) {
        self.inner().listener = None;
    }

    pub(crate) fn push(&self, happened: EffectReport) {
        let mut inner = self.inner();
        if let Some(told) = &inner.listener {
            // The listener may have gone away.
            drop(told.send(happened.clone()));
        }
        if inner.kept.len() >= EFFECTS_KEPT_MAX {
            inner.kept.pop_front();
        }
        inner.kept.push_back(happened);
    }

    pub(crate) fn since(&self, position: u64) -> Vec<EffectReport> {
        let inner = self.inner();
        inner.kept.iter().filter(|one| one.position > position).cloned().collect()
    }
}

#[cfg(test)]
mod tests;
