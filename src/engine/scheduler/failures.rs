//! The failure of each resource's last attempt.
//!
//! Guarantees: the number of failures that only a person can solve is known without a search.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::id::Key;
use crate::base::timers::count_visits;
use crate::engine::handles::task_result::TaskFailure;

#[derive(Debug, Default)]
pub(crate) struct Failures {
    by_resource: BTreeMap<Key, TaskFailure>,
    /// Resources that need a person for their failure alone: their step needs none.
    for_operator: BTreeSet<Key>,
    /// Resources whose failure was noted or forgotten since it was last asked.
    changed: BTreeSet<Key>,
}

impl Failures {
    /// Notes the failure of a resource whose step could be tried.
    pub(crate) fn insert(&mut self, key: &Key, failure: TaskFailure) {
        let needs_attention = failure.needs_attention();
        self.by_resource.insert(key.clone(), failure);
        self.changed.insert(key.clone());
        self.note_attention(key, needs_attention);
    }

    pub(crate) fn remove(&mut self, key: &Key) {
        if self.by_resource.remove(key).is_some() {
            self.changed.insert(key.clone());
        }
        self.for_operator.remove(key);
    }

    /// Returns the resources whose failure was noted or forgotten since the last call.
    pub(crate) fn take_changed(&mut self) -> BTreeSet<Key> {
        std::mem::take(&mut self.changed)
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&TaskFailure> {
        self.by_resource.get(key)
    }

    pub(crate) fn all(&self) -> &BTreeMap<Key, TaskFailure> {
        count_visits(self.by_resource.len());
        &self.by_resource
    }

    /// Notes a resource's step; `is_possible` is false without one, or if it needs a person.
    pub(crate) fn note_step(&mut self, key: &Key, is_possible: bool) {
        let needs_attention = self.get(key).is_some_and(TaskFailure::needs_attention);
        self.note_attention(key, is_possible && needs_attention);
    }

    fn note_attention(&mut self, key: &Key, needs_attention: bool) {
        if needs_attention {
            self.for_operator.insert(key.clone());
        } else {
            self.for_operator.remove(key);
        }
    }

    /// Returns the resources that need a person for their failure alone.
    pub(crate) fn for_operator(&self) -> impl Iterator<Item = &Key> {
        self.for_operator.iter()
    }

    /// Returns the number of resources that need a person for their failure alone.
    pub(crate) fn attention_count(&self) -> usize {
        self.for_operator.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret() -> TaskFailure {
        TaskFailure::Secret("the variable KEY is not set".to_owned())
    }

    #[test]
    fn a_failure_for_a_person_is_counted_once_and_until_it_is_gone() {
        let (mut failures, key): (_, Key) = (Failures::default(), "Contact/a".parse().unwrap());
        failures.insert(&key, secret());
        failures.insert(&key, secret());
        assert_eq!((failures.attention_count(), failures.all().len()), (1, 1));
        failures.insert(&key, TaskFailure::Unreachable("no route".to_owned()));
        assert_eq!((failures.attention_count(), failures.all().len()), (0, 1));
        failures.insert(&key, secret());
        failures.remove(&key);
        assert_eq!((failures.attention_count(), failures.all().len()), (0, 0));
    }

    #[test]
    fn a_step_that_needs_a_person_itself_is_not_counted_twice() {
        let (mut failures, key): (_, Key) = (Failures::default(), "Contact/a".parse().unwrap());
        failures.note_step(&key, true);
        assert_eq!(failures.attention_count(), 0, "it did not fail");
        failures.insert(&key, secret());
        failures.note_step(&key, false);
        assert_eq!(failures.attention_count(), 0);
        failures.note_step(&key, true);
        assert_eq!(failures.attention_count(), 1);
    }
}
