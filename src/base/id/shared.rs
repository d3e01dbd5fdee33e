//! One allocation for equal values, for as long as one of them is in use.

use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Weak};

use hashbrown::HashTable;
use parking_lot::Mutex;

/// Number of entries below which no search for unused ones is worth it.
const SEARCH_MIN: usize = 1024;

/// Values in use, each once. An unused value costs its allocation until the number of entries has
/// doubled; then all unused ones are removed.
pub(super) struct SharedValues<T: ?Sized> {
    hasher: RandomState,
    entries: Mutex<SharedEntries<T>>,
}

struct SharedEntries<T: ?Sized> {
    table: HashTable<(u64, Weak<T>)>,
    search_at: usize,
}

impl<T: ?Sized> Default for SharedValues<T> {
    fn default() -> Self {
        let entries = SharedEntries { table: HashTable::new(), search_at: SEARCH_MIN };
        Self { hasher: RandomState::new(), entries: Mutex::new(entries) }
    }
}

impl<T: ?Sized> SharedValues<T> {
    /// Returns the value in use that equals this identity.
    pub(super) fn find(
        &self,
        identity: &impl Hash,
        is_same: impl Fn(&T) -> bool,
    ) -> Option<Arc<T>> {
        let hash = self.hasher.hash_one(identity);
        self.entries.lock().find(hash, is_same)
    }

    /// Returns the value in use that equals this identity, or the one that `make` returns.
    pub(super) fn share(
        &self,
        identity: &impl Hash,
        is_same: impl Fn(&T) -> bool,
        make: impl FnOnce() -> Arc<T>,
    ) -> Arc<T> {
        let hash = self.hasher.hash_one(identity);
        let mut entries = self.entries.lock();
        if let Some(value) = entries.find(hash, is_same) {
            return value;
        }
        let value = make();
        entries.insert(hash, &value);
        value
    }
}

impl<T: ?Sized> SharedEntries<T> {
    fn find(&self, hash: u64, is_same: impl Fn(&T) -> bool) -> Option<Arc<T>> {
        let mut found = None;
        self.table.find(hash, |(other, value)| {
            if *other == hash {
                found = value.upgrade().filter(|value| is_same(value));
            }
            found.is_some()
        });
        found
    }

    fn insert(&mut self, hash: u64, value: &Arc<T>) {
        if self.table.len() >= self.search_at {
            self.table.retain(|(_, value)| value.strong_count() > 0);
            self.search_at = self.table.len().saturating_mul(2).max(SEARCH_MIN);
        }
        self.table.insert_unique(hash, (hash, Arc::downgrade(value)), |(hash, _)| *hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(values: &SharedValues<str>, text: &str) -> Arc<str> {
        values.share(&text, |value| value == text, || Arc::from(text))
    }

    #[test]
    fn equal_values_are_one_and_others_are_not() {
        let values = SharedValues::default();
        let one = share(&values, "a");
        assert!(Arc::ptr_eq(&one, &share(&values, "a")));
        assert!(!Arc::ptr_eq(&one, &share(&values, "b")));
        assert_eq!(values.find(&"a", |value| value == "a"), Some(one));
        assert_eq!(values.find(&"c", |value| value == "c"), None);
    }

    #[test]
    fn a_value_that_nothing_uses_is_forgotten() {
        let values = SharedValues::default();
        let used: Vec<Arc<str>> = (0..10).map(|n| share(&values, &format!("used-{n}"))).collect();
        for n in 0..100_000 {
            drop(share(&values, &n.to_string()));
        }
        assert!(values.entries.lock().table.len() <= SEARCH_MIN + 1);
        let again = (0..10).map(|n| share(&values, &format!("used-{n}")));
        assert!(used.iter().zip(again).all(|(one, other)| Arc::ptr_eq(one, &other)));
    }

    #[test]
    fn threads_that_ask_at_once_get_one_value() {
        let values = SharedValues::default();
        let of_thread = || (0..200).map(|n| share(&values, &n.to_string())).collect::<Vec<_>>();
        std::thread::scope(|scope| {
            let threads = [0; 4].map(|_| scope.spawn(of_thread));
            let all = threads.map(|thread| thread.join().unwrap());
            for other in &all {
                assert!(all[0].iter().zip(other).all(|(one, other)| Arc::ptr_eq(one, other)));
            }
        });
    }
}
