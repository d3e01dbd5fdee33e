//! The values that were used last, in a bounded number.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::mem;

/// A cache of at most twice `most` values. A value that is used stays; of the others the older half is
/// dropped together.
#[derive(Debug)]
pub struct Recent<K, V> {
    young: HashMap<K, V>,
    old: HashMap<K, V>,
    most: usize,
}

impl<K: Eq + Hash, V> Recent<K, V> {
    pub fn new(most: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), most }
    }

    pub fn get<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        if !self.young.contains_key(key) {
            let (key, value) = self.old.remove_entry(key)?;
            self.insert(key, value);
        }
        self.young.get(key)
    }

    pub fn insert(&mut self, key: K, value: V) {
        if self.young.len() >= self.most {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }

    pub fn remove<Q: Eq + Hash + ?Sized>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
    {
        self.young.remove(key);
        self.old.remove(key);
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.young.len().saturating_add(self.old.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_and_the_rest_is_forgotten() {
        let mut recent = Recent::new(8);
        recent.insert(0, "often");
        for number in 1..100 {
            recent.insert(number, "once");
            assert_eq!(recent.get(&0), Some(&"often"), "{number}");
            assert!(recent.len() <= 16);
        }
        assert_eq!(recent.get(&1), None);
        assert_eq!(recent.get(&99), Some(&"once"));
        recent.remove(&0);
        assert_eq!(recent.get(&0), None);
    }
}
