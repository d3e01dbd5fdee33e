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

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        format!("Contact/{name}").parse().unwrap()
    }

    #[test]
    fn a_resource_waits_for_one_rule_and_is_taken_with_that_one_alone() {
        let (office, night): (Holder, Holder) = (Some("office".into()), Some("night".into()));
        let mut held = HeldResources::default();
        for (name, holder) in [("a", &office), ("b", &night), ("c", &None), ("a", &night)] {
            held.insert(key(name), holder.clone());
        }
        assert_eq!((held.count(&office), held.count(&night), held.count(&None)), (0, 2, 1));
        held.remove(&key("b"));
        held.remove(&key("b"));
        assert_eq!((held.take(&night), held.count(&None)), ([key("a")].into(), 1));
        assert!(held.take(&night).is_empty() && held.take(&office).is_empty());
        assert_eq!(held.take(&None), [key("c")].into());
    }
}
