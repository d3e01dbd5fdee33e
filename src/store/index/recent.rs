//! Cache of recent reads, so that repeated reads of a key are answered from memory.
//!
//! Two generations: a key that is read moves to the young one. When the young one is full it
//! replaces the old one, which is dropped.

use std::collections::HashMap;
use std::mem;

/// Entries of one generation.
const GENERATION_MAX: usize = 1024;
/// Longer values are not cached.
const VALUE_BYTES_MAX: usize = 2 << 10;

/// Keys with their values, or known to have none.
#[derive(Debug, Default)]
pub(crate) struct ReadCache {
    young: HashMap<Vec<u8>, Option<Vec<u8>>>,
    old: HashMap<Vec<u8>, Option<Vec<u8>>>,
}

impl ReadCache {
    /// Returns the cached value of a key; the inner `None` means that the key has no value.
    pub(crate) fn get(&mut self, key: &[u8]) -> Option<&Option<Vec<u8>>> {
        if !self.young.contains_key(key) {
            let (key, value) = self.old.remove_entry(key)?;
            self.keep(key, value);
        }
        self.young.get(key)
    }

    /// Caches the result of a read.
    pub(crate) fn insert(&mut self, key: &[u8], value: Option<&[u8]>) {
        if value.is_none_or(|value| value.len() <= VALUE_BYTES_MAX) {
            self.keep(key.to_owned(), value.map(<[u8]>::to_vec));
        }
    }

    /// Removes a key that changes.
    pub(crate) fn remove(&mut self, key: &[u8]) {
        self.young.remove(key);
        self.old.remove(key);
    }

    fn keep(&mut self, key: Vec<u8>, value: Option<Vec<u8>>) {
        if self.young.len() >= GENERATION_MAX {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_stays_and_the_rest_is_forgotten() {
        let mut recent = ReadCache::default();
        recent.insert(b"often", Some(b"1"));
        for number in 0..10 * GENERATION_MAX {
            recent.insert(number.to_string().as_bytes(), None);
            assert_eq!(recent.get(b"often"), Some(&Some(b"1".to_vec())), "{number}");
        }
        assert_eq!(recent.get(b"0"), None);
        assert_eq!(recent.get((10 * GENERATION_MAX - 1).to_string().as_bytes()), Some(&None));
        assert!(recent.young.len() + recent.old.len() <= 2 * GENERATION_MAX);
    }

    #[test]
    fn what_changes_or_is_long_is_not_known() {
        let mut recent = ReadCache::default();
        recent.insert(b"a", Some(b"1"));
        recent.remove(b"a");
        recent.insert(b"long", Some(&[0; VALUE_BYTES_MAX + 1]));
        assert_eq!(recent.get(b"a"), None);
        assert_eq!(recent.get(b"long"), None);
    }
}
