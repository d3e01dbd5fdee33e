//! Connects the scheduler to the planner and to the ends of tasks.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::base::id::Key;
use crate::engine::core::coordinator::Engine;
use crate::engine::handles::failure::TaskFailure;
use crate::engine::handles::shared::EngineError;
use crate::engine::handles::task_result::TaskResult;
use crate::engine::scheduler::lane_table::{LaneBlocked, is_exclusive};
use crate::model::intents::effect::Effect;

impl Engine {
    /// Queues those of these resources whose step can be done now.
    pub(crate) fn enqueue(&mut self, keys: BTreeSet<Key>) {
        self.scheduler.enqueue(keys, &|key| self.planner.has_work(key));
    }

    /// Queues the resources whose wait is over.
    pub(crate) fn retry(&mut self) {
        self.scheduler.retry(&|key| self.planner.has_work(key));
    }

    /// Queues the resources that waited for a lane.
    pub(crate) fn requeue_waiting(&mut self) {
        self.scheduler.requeue_waiting(&|key| self.planner.has_work(key));
    }

    /// Takes the lane of an effect for a resource.
    ///
    /// # Errors
    /// The lane is taken.
    pub(crate) fn take_lane(&mut self, key: &Key, effect: &Effect) -> Result<(), LaneBlocked> {
        let is_being_read = is_exclusive(effect) && self.is_being_read(effect);
        let open = self.known_state.open_intents().map(|open| &open.intent);
        self.scheduler.take_lane(key, effect, is_being_read, open)
    }

    /// Returns true if an effect may start now; otherwise it waits for its lane.
    pub(crate) fn enter_lane(&mut self, key: &Key, effect: &Effect) -> bool {
        let is_being_read = is_exclusive(effect) && self.is_being_read(effect);
        let open = self.known_state.open_intents().map(|open| &open.intent);
        self.scheduler.enter_lane(key, effect, is_being_read, open)
    }

    /// Frees the lane of this resource, and requests the deferred actions again.
    pub(crate) fn leave_lane(&mut self, key: &Key) {
        self.scheduler.leave_lane(key, &|key| self.planner.has_work(key));
        for (asked, reply) in self.scheduler.lanes.take_deferred() {
            self.act(asked, reply);
        }
    }

    /// Notes that a task has ended or could not start; queues resources that were deferred for it.
    pub(crate) fn release_slot(&mut self, key: &Key) {
        self.scheduler.release_slot(key, &|key| self.planner.has_work(key));
    }

    /// Returns the permitted number of tasks of the plan, including those that only wait.
    pub(crate) fn capacity(&self, room: usize) -> usize {
        room.saturating_add(self.shared.resting())
    }

    /// Applies changes of the limiter during a task.
    pub(crate) fn after_calls(&mut self, finished: &TaskResult) {
        if let Some(key) = finished.resource() {
            self.release_slot(key);
        }
        if self.shared.limiter().take_reopened() {
            self.scheduler.retry_unreachable();
        }
    }

    /// Schedules another try of a resource, or gives it up after too many failures.
    pub(crate) fn schedule_retry(&mut self, key: Key, failure: TaskFailure, least: Duration) {
        self.uncount(&key);
        let tries_max = self.shared.settings.failures_max;
        let (waits, why) =
            (matches!(failure, TaskFailure::Waiting(_)), failure.message().to_owned());
        let failures =
            self.shared.random(|rng| self.scheduler.fail(&key, failure, (least, tries_max), rng));
        if waits {
            tracing::info!(key = %key, reason = why, "waits");
        } else {
            tracing::warn!(key = %key, failures, reason = why, "effect delayed");
        }
        let made = self.planner.recompute(&self.known_state, [key]);
        self.enqueue(made);
    }

    /// Handles a moved clock: everything that waits for a time now past continues at once.
    pub(crate) fn clock_moved(&mut self) -> Result<(), EngineError> {
        self.replan_dated();
        self.hooks_due()
    }
}
