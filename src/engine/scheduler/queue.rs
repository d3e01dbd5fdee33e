//! The queue of resources whose step can be done now.

use std::collections::BTreeSet;

use super::schedule::{HasWork, Scheduler};
use crate::base::fault_injection;
use crate::base::id::Key;

impl Scheduler {
    /// Queues those of these resources whose step can be done now; the others leave the queue.
    pub(crate) fn enqueue(&mut self, keys: BTreeSet<Key>, has_work: HasWork<'_>) {
        for key in keys {
            let is_busy = self.busy.contains(&key);
            if is_busy {
                self.superseded.note(&key);
            }
            let free = !is_busy || fault_injection::is_active("two-open-effects");
            let may_start = has_work(&key) && self.is_selected(&key) && free;
            if may_start && !self.backoff.is_blocked(&key) {
                self.queue.insert(key);
            } else {
                self.queue.remove(&key);
            }
        }
    }

    /// Queues the resources whose wait is over. A resource without work has its wait ended, since
    /// it would be due for ever; its present reason is then reported instead.
    pub(crate) fn retry(&mut self, has_work: HasWork<'_>) {
        let due = self.backoff.take_due();
        self.enqueue(due.clone(), has_work);
        for key in due.iter().filter(|key| !self.queue.contains(*key)) {
            self.backoff.clear(key);
            if !has_work(key) {
                self.failures.remove(key);
            }
        }
    }
}
