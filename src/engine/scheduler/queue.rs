//! The queue of resources whose step can be done now.

use std::collections::BTreeSet;

use crate::base::fault_injection;
use crate::base::id::Key;
use crate::engine::core::coordinator::Engine;

impl Engine {
    /// Queues those of these resources whose step can be done now.
    pub(crate) fn enqueue(&mut self, keys: BTreeSet<Key>) {
        for key in keys {
            let work = self.planner.has_work(&key);
            let chosen = self.targets.as_ref().is_none_or(|chosen| chosen.contains(&key));
            if self.busy.contains(&key) {
                self.shared.superseded().note(&key);
            }
            let free = !self.busy.contains(&key) || fault_injection::is_active("two-open-effects");
            if work && chosen && free && !self.backoff.is_blocked(&key) {
                self.queue.insert(key);
            } else {
                self.queue.remove(&key);
            }
        }
    }

    /// Queues the resources whose wait is over. A resource without work has its wait ended, since
    /// it would be due for ever; its present reason is then reported instead.
    pub(crate) fn retry(&mut self) {
        let due = self.backoff.take_due();
        self.enqueue(due.clone());
        for key in due.iter().filter(|key| !self.queue.contains(*key)) {
            self.backoff.clear(key);
            if !self.planner.has_work(key) {
                self.failures.remove(key);
            }
        }
    }
}
