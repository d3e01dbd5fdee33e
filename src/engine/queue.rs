//! The queue of resources whose step can be done now.

use std::collections::BTreeSet;

use super::Engine;
use crate::base::id::Key;
use crate::base::planted;

impl Engine {
    /// Queues those of these resources whose step can be done now.
    pub(super) fn enqueue(&mut self, keys: BTreeSet<Key>) {
        for key in keys {
            let work = self.planner.doable(&key);
            let chosen = self.chosen.as_ref().is_none_or(|chosen| chosen.contains(&key));
            if self.busy.contains(&key) {
                self.shared.recalled().note(&key);
            }
            let free = !self.busy.contains(&key) || planted::is("two-open-effects");
            if work && chosen && free && !self.backoff.holds(&key) {
                self.queue.insert(key);
            } else {
                self.queue.remove(&key);
            }
        }
    }

    /// Queues the resources whose wait is over. A resource without work has its wait ended, since
    /// it would be due for ever; its present reason is then reported instead.
    pub(super) fn retry(&mut self) {
        let due = self.backoff.take_due();
        self.enqueue(due.clone());
        for key in due.iter().filter(|key| !self.queue.contains(*key)) {
            self.backoff.clear(key);
            if !self.planner.doable(key) {
                self.unable.remove(key);
            }
        }
    }
}
