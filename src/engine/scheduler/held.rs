//! Resources whose effect waits for the end of a hold, by the rule that holds it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::id::Key;

/// The name of a rule of the configuration; `None` for a freeze or a sync, which a person ends.
type Holder = Option<Arc<str>>;

#[derive(Debug, Default)]
pub(crate) struct HeldResources {
    holders: BTreeMap<Key, Holder>,
    by_holder: BTreeMap<Holder, BTreeSet<Key>>,
}

impl HeldResources {
    pub(crate) fn insert(&mut self, key: Key, holder: Holder) {
        self.remove(&key);
        self.by_holder.entry(holder.clone()).or_default().insert(key.clone());
        self.holders.insert(key, holder);
    }

    pub(crate) fn remove(&mut self, key: &Key) {
        let Some(holder) = self.holders.remove(key) else { return };
        if let Some(keys) = self.by_holder.get_mut(&holder) {
            keys.remove(key);
        }
    }

    /// Removes and returns the resources that wait for a rule, or for a person.
    pub(crate) fn take(&mut self, holder: &Holder) -> BTreeSet<Key> {
        let keys = self.by_holder.remove(holder).unwrap_or_default();
        for key in &keys {
            self.holders.remove(key);
        }
        keys
    }

    /// Returns the number of resources that wait for a rule, or for a person.
    pub(crate) fn count(&self, holder: &Holder) -> usize {
        self.by_holder.get(holder).map_or(0, BTreeSet::len)
    }
}
