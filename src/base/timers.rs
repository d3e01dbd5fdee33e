//! Due times by key, in order. Each operation costs the logarithm of the number of keys.
//!
//! A key has at most one due time. Keys that are due at the same time keep their own order.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone)]
pub struct Timers<K, T> {
    due: BTreeMap<K, T>,
    order: BTreeSet<(T, K)>,
}

impl<K, T> Default for Timers<K, T> {
    fn default() -> Self {
        Self { due: BTreeMap::new(), order: BTreeSet::new() }
    }
}

impl<K: Ord + Clone, T: Ord + Copy> Timers<K, T> {
    /// Sets the due time of a key in place of an earlier or later one; `None` removes the key.
    pub fn set(&mut self, key: K, due: Option<T>) {
        let before = match due {
            Some(due) => self.due.insert(key.clone(), due),
            None => self.due.remove(&key),
        };
        let Some(before) = before else {
            self.order.extend(due.map(|due| (due, key)));
            return;
        };
        let mut place = (before, key);
        self.order.remove(&place);
        if let Some(due) = due {
            place.0 = due;
            self.order.insert(place);
        }
    }

    /// Sets the due time of a key unless the key is due earlier.
    pub fn set_earlier(&mut self, key: K, due: T) {
        let due = self.due(&key).map_or(due, |known| known.min(due));
        self.set(key, Some(due));
    }

    /// Changes the due time of a key that has one.
    pub fn move_to(&mut self, key: &K, due: T) {
        if self.due.contains_key(key) {
            self.set(key.clone(), Some(due));
        }
    }

    /// Moves every key to this time.
    pub fn move_all_to(&mut self, due: T) {
        self.due.values_mut().for_each(|known| *known = due);
        self.order = self.due.keys().map(|key| (due, key.clone())).collect();
    }

    pub fn due(&self, key: &K) -> Option<T> {
        self.due.get(key).copied()
    }

    pub fn next_due(&self) -> Option<T> {
        self.order.first().map(|(due, _)| *due)
    }

    /// Removes and returns the first key, if it is due.
    pub fn pop_due(&mut self, now: T) -> Option<K> {
        self.order.first().filter(|(due, _)| *due <= now)?;
        let (_, key) = self.order.pop_first()?;
        self.due.remove(&key);
        Some(key)
    }

    /// Returns every key with its due time, the earliest first.
    pub fn in_order(&self) -> impl Iterator<Item = (T, &K)> {
        self.order.iter().inspect(|_| count_visits(1)).map(|(due, key)| (*due, key))
    }

    /// Returns the due keys, the earliest first.
    pub fn due_by(&self, now: T) -> impl Iterator<Item = &K> {
        self.in_order().take_while(move |(due, _)| *due <= now).map(|(_, key)| key)
    }

    pub fn is_empty(&self) -> bool {
        self.due.is_empty()
    }
}

#[cfg(test)]
thread_local! {
    static VISITS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Counts entries that a search or a list visits, for tests of the cost of work.
#[cfg(test)]
pub(crate) fn count_visits(entries: usize) {
    VISITS.set(VISITS.get().saturating_add(entries));
}

#[cfg(not(test))]
pub(crate) fn count_visits(_: usize) {}

/// Returns the number of entries that this work visits.
#[cfg(test)]
pub(crate) fn visits(work: impl FnOnce()) -> usize {
    let before = VISITS.get();
    work();
    VISITS.get().saturating_sub(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timers(all: &[(&'static str, u32)]) -> Timers<&'static str, u32> {
        let mut timers = Timers::default();
        for (key, due) in all {
            timers.set(*key, Some(*due));
        }
        timers
    }

    fn order(timers: &Timers<&'static str, u32>) -> Vec<(u32, &'static str)> {
        timers.in_order().map(|(due, key)| (due, *key)).collect()
    }

    #[test]
    fn the_earliest_comes_first_and_equal_ones_in_their_own_order() {
        let timers = timers(&[("c", 2), ("b", 2), ("a", 3), ("d", 1)]);
        assert_eq!(order(&timers), [(1, "d"), (2, "b"), (2, "c"), (3, "a")]);
        assert_eq!(timers.next_due(), Some(1));
    }

    #[test]
    fn a_key_has_one_due_time_the_last_one_set() {
        let mut timers = timers(&[("a", 5), ("a", 1), ("a", 9)]);
        assert_eq!((order(&timers), timers.due(&"a")), (vec![(9, "a")], Some(9)));
        assert_eq!(timers.pop_due(8), None, "its earlier times are over");
    }

    #[test]
    fn a_key_without_a_time_is_gone() {
        let mut timers = timers(&[("a", 5), ("b", 6)]);
        timers.set("a", None);
        timers.set("never", None);
        assert_eq!((timers.due(&"a"), order(&timers)), (None, vec![(6, "b")]));
        timers.set("b", None);
        assert!(timers.is_empty() && timers.next_due().is_none());
    }

    #[test]
    fn a_time_is_brought_forward_and_never_put_off() {
        let mut timers = timers(&[("a", 5)]);
        for (key, due) in [("a", 7), ("b", 4), ("a", 3)] {
            timers.set_earlier(key, due);
        }
        assert_eq!(order(&timers), [(3, "a"), (4, "b")]);
    }

    #[test]
    fn only_a_key_with_a_time_is_moved() {
        let mut timers = timers(&[("a", 5), ("b", 6)]);
        timers.move_to(&"a", 8);
        timers.move_to(&"c", 1);
        assert_eq!(order(&timers), [(6, "b"), (8, "a")]);
        timers.move_all_to(2);
        assert_eq!(order(&timers), [(2, "a"), (2, "b")]);
        assert_eq!((timers.due(&"a"), timers.due(&"c")), (Some(2), None));
    }

    #[test]
    fn what_is_due_is_taken_once_and_what_is_not_stays() {
        let mut timers = timers(&[("a", 3), ("b", 1), ("c", 2), ("d", 4)]);
        assert_eq!(timers.due_by(2).copied().collect::<Vec<_>>(), ["b", "c"]);
        let mut taken = Vec::new();
        while let Some(key) = timers.pop_due(3) {
            taken.push(key);
        }
        assert_eq!(taken, ["b", "c", "a"]);
        assert_eq!((timers.due(&"a"), order(&timers)), (None, vec![(4, "d")]));
    }
}
