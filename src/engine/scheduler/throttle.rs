//! Throttles tasks: tasks of a merchant whose calls wait leave room for others.
//!
//! A throttled merchant has few tasks at a time; its other resources are deferred until one of them
//! ends. Tasks that only wait, for the limiter or for evidence, take no room, nor do account
//! readings. So neither a slow merchant nor a thousand polls delay the start of a changed document.

use std::collections::BTreeSet;

use super::schedule::{HasWork, Scheduler};
use crate::base::id::Key;
use crate::engine::handles::calls::lane_name;
use crate::engine::handles::failure::TaskFailure;
use crate::model::intents::effect::StepWork;

/// Largest number of tasks of a throttled merchant: enough that its bucket never waits for us.
const TASKS_OF_SLOW_MAX: usize = 8;

impl Scheduler {
    /// Returns true if a task may start now; otherwise its resource is deferred until another task
    /// of its merchant ends.
    pub(crate) fn admit(&mut self, key: &Key, work: &StepWork) -> bool {
        let name = match work {
            StepWork::Effect(effect) => lane_name(&effect.merchant, effect.request.auth),
            StepWork::Read(reading) => reading.merchant.to_string(),
            StepWork::Record(_) => return true,
        };
        let lane = self.throttle.lanes.entry(name.clone()).or_default();
        if lane.working >= TASKS_OF_SLOW_MAX && self.limiter.is_slowed(&name) {
            lane.deferred.insert(key.clone());
            return false;
        }
        lane.working = lane.working.saturating_add(1);
        self.throttle.working.insert(key.clone(), name);
        true
    }

    /// Notes that a task has ended or could not start; queues resources that were deferred for it.
    pub(crate) fn release_slot(&mut self, key: &Key, has_work: HasWork<'_>) {
        let Some(name) = self.throttle.working.remove(key) else { return };
        let Some(lane) = self.throttle.lanes.get_mut(&name) else { return };
        lane.working = lane.working.saturating_sub(1);
        self.resume_deferred(&name, has_work);
    }

    /// Queues deferred resources that wait for no task of their merchant.
    pub(crate) fn resume_idle_lanes(&mut self, has_work: HasWork<'_>) {
        let idle = self.throttle.lanes.iter().filter(|(_, lane)| lane.working == 0);
        let idle: Vec<String> = idle.map(|(name, _)| name.clone()).collect();
        for name in idle {
            self.resume_deferred(&name, has_work);
        }
    }

    /// Queues as many deferred resources as their merchant has room for.
    fn resume_deferred(&mut self, name: &str, has_work: HasWork<'_>) {
        let Some(lane) = self.throttle.lanes.get_mut(name) else { return };
        let slowed = self.limiter.is_slowed(name);
        let most = if slowed { TASKS_OF_SLOW_MAX } else { usize::MAX };
        let room = most.saturating_sub(lane.working);
        let mut parked = std::mem::take(&mut lane.deferred);
        let mut queued: usize = 0;
        while queued < room {
            let Some(key) = parked.pop_first() else { break };
            self.enqueue(BTreeSet::from([key.clone()]), has_work);
            queued = queued.saturating_add(usize::from(self.queue.contains(&key)));
        }
        if let Some(lane) = self.throttle.lanes.get_mut(name) {
            lane.deferred = parked;
            if lane.working == 0 && lane.deferred.is_empty() {
                self.throttle.lanes.remove(name);
            }
        }
    }

    /// Makes every resource due that waits for an unreachable service, since the service answers
    /// again.
    pub(crate) fn retry_unreachable(&mut self) {
        let silent = |failure: &TaskFailure| matches!(failure, TaskFailure::Unreachable(_));
        let waiting = self.failures.iter().filter(|(_, failure)| silent(failure));
        let waiting: BTreeSet<Key> = waiting.map(|(key, _)| key.clone()).collect();
        self.backoff.make_due(&waiting);
    }
}
