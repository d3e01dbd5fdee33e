//! Parts of a world that a shorter world leaves out one by one, and counts of what happened.
//!
//! A function that removes the `nth` part of a group returns whether the group has it; otherwise it
//! reduces `nth` by the number of the group's parts.

use std::collections::BTreeMap;

pub(crate) fn remove_nth<T>(list: &mut Vec<T>, nth: &mut usize) -> bool {
    let found = *nth < list.len();
    if found {
        list.remove(*nth);
    } else {
        *nth = nth.saturating_sub(list.len());
    }
    found
}

pub(crate) fn remove_one<T>(part: &mut Option<T>, nth: &mut usize) -> bool {
    if *nth == 0 {
        return part.take().is_some();
    }
    *nth = nth.saturating_sub(usize::from(part.is_some()));
    false
}

/// Returns the number of parts that `remove_part` can remove.
pub(crate) fn count_parts(remove_part: impl FnOnce(&mut usize) -> bool) -> usize {
    let mut beyond = usize::MAX;
    remove_part(&mut beyond);
    usize::MAX.saturating_sub(beyond)
}

/// Counts equal keys.
pub(crate) fn count_each<K: Ord>(keys: impl IntoIterator<Item = K>) -> BTreeMap<K, usize> {
    let mut counts: BTreeMap<K, usize> = BTreeMap::new();
    for key in keys {
        let count = counts.entry(key).or_default();
        *count = count.saturating_add(1);
    }
    counts
}

/// Adds to the count of a key, and returns the new count.
pub(crate) fn add<K: Ord>(counts: &mut BTreeMap<K, u32>, key: K, more: u32) -> u32 {
    let count = counts.entry(key).or_default();
    *count = count.saturating_add(more);
    *count
}
