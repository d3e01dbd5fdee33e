//! The scheduler: decides which resource may work now. The coordinator starts the tasks.
//!
//! Owns the queue, the resources with a task under way, lanes, throttle, backoff, failures and the
//! selected targets. Guarantees: a resource has at most one task; two effects of one lane never run
//! concurrently; no operation costs more with the number of waiting resources.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use rand_core::Rng;

use crate::base::id::Key;
use crate::client::gate::Limiter;
use crate::engine::handles::failure::TaskFailure;
use crate::engine::handles::registers::Superseded;
use crate::engine::scheduler::backoff::Backoff;
use crate::engine::scheduler::lane_table::LaneTable;

/// Returns true for a resource whose step can be done now.
pub(crate) type HasWork<'a> = &'a dyn Fn(&Key) -> bool;

/// The order of work of one process.
pub(crate) struct Scheduler {
    /// Resources that can start now.
    pub(crate) queue: BTreeSet<Key>,
    /// Resources with a task under way.
    pub(crate) busy: BTreeSet<Key>,
    pub(crate) lanes: LaneTable,
    pub(crate) throttle: Throttle,
    pub(crate) backoff: Backoff,
    /// Resources whose last attempt failed, with the failure.
    pub(crate) failures: BTreeMap<Key, TaskFailure>,
    /// The selected resources; `None` selects all.
    pub(crate) targets: Option<BTreeSet<Key>>,
    pub(crate) superseded: Arc<Superseded>,
    pub(crate) limiter: Arc<Limiter>,
}

impl std::fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Scheduler({} busy, {} queued)", self.busy.len(), self.queue.len())
    }
}

impl Scheduler {
    /// Returns a scheduler without work.
    pub(crate) fn new(limiter: Arc<Limiter>, superseded: Arc<Superseded>) -> Self {
        Self {
            queue: BTreeSet::new(),
            busy: BTreeSet::new(),
            lanes: LaneTable::default(),
            throttle: Throttle::default(),
            backoff: Backoff::default(),
            failures: BTreeMap::new(),
            targets: None,
            superseded,
            limiter,
        }
    }

    /// Selects the resources that may work, and drops all others from the queue.
    pub(crate) fn select_targets(&mut self, keys: BTreeSet<Key>) {
        self.queue.retain(|key| keys.contains(key));
        self.targets = Some(keys);
    }

    /// Returns true if a resource is selected.
    pub(crate) fn is_selected(&self, key: &Key) -> bool {
        self.targets.as_ref().is_none_or(|chosen| chosen.contains(key))
    }

    /// Marks resources as having a task under way; they leave the queue.
    pub(crate) fn lock(&mut self, keys: impl IntoIterator<Item = Key>) {
        for key in keys {
            self.queue.remove(&key);
            self.busy.insert(key);
        }
    }

    /// Returns true if no resource can start, now or after a wait.
    pub(crate) fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.backoff.nothing_due()
    }

    /// Forgets the failure and the backoff of a resource, since something about it changed.
    pub(crate) fn forget_failure(&mut self, key: &Key) {
        self.failures.remove(key);
        self.backoff.clear(key);
    }

    /// Notes a failed try: the next one is due after a growing, random wait of at least `least`.
    /// After `tries_max` failures in a row the resource is given up. Returns the number of failures.
    pub(crate) fn fail(
        &mut self,
        key: &Key,
        failure: TaskFailure,
        (least, tries_max): (Duration, Option<u32>),
        rng: &mut dyn Rng,
    ) -> u32 {
        let failures = self.backoff.fail(key, least.max(failure.wait_min()), rng);
        if tries_max.is_some_and(|most| failures >= failure.tries(most)) {
            self.backoff.give_up(key);
        }
        self.failures.insert(key.clone(), failure);
        failures
    }
}

/// Tasks under way by lane, and the deferred resources.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    pub(crate) working: BTreeMap<Key, String>,
    pub(crate) lanes: BTreeMap<String, ThrottleLane>,
}

#[derive(Debug, Default)]
pub(crate) struct ThrottleLane {
    pub(crate) working: usize,
    pub(crate) deferred: BTreeSet<Key>,
}
