//! Admission of tasks by lane and by merchant.
//!
//! Effects in one lane never run concurrently (see [`crate::effects::core::row::Isolation`]). Of a
//! merchant's effects without a mark only one is open at a time, so that a lost answer can be
//! attributed. An object has at most one change under way. Of effects that do the same, such as the
//! upload of one file, the second waits for the first. Then it has nothing left to do.
//!
//! A throttled merchant has few tasks at a time; its other resources are deferred until one of them
//! ends. Tasks that only wait, for the limiter or for evidence, take no room, nor do account
//! readings. So neither a slow merchant nor a thousand polls delay the start of a changed document.

use std::collections::BTreeSet;

use crate::base::id::Key;
use crate::engine::handles::access::lane_name;
use crate::engine::handles::task_result::TaskFailure;
use crate::engine::scheduler::schedule::{
    HasWork, LaneBlocked, LaneKey, Scheduler, is_exclusive, lane_of_effect, lane_of_intent,
};
use crate::model::effect::{Effect, StepWork};
use crate::model::intent::Intent;

/// Largest number of tasks of a throttled merchant: enough that its bucket never waits for us.
const TASKS_OF_SLOW_MAX: usize = 8;

/// Describes an unsettled effect that could not be distinguished from another one after a lost answer.
pub(crate) fn unsettled_message(other: &str) -> String {
    format!(
        "{other} is not settled, and its effect could not be distinguished from this one; see \
        `reckon intents`"
    )
}

impl Scheduler {
    /// Notes that an intent of an earlier process is under way.
    pub(crate) fn occupy_lane(&mut self, intent: &Intent) {
        if let Some(lane) = lane_of_intent(intent) {
            self.lanes.working.insert(intent.key.clone(), lane);
        }
    }

    /// Takes the lane of an effect for a resource. `is_being_read` is true if a list of the
    /// effect's merchant is being read; `open` gives every intent that is not closed.
    pub(crate) fn take_lane<'a>(
        &mut self,
        key: &Key,
        effect: &Effect,
        is_being_read: bool,
        open: impl Iterator<Item = &'a Intent>,
    ) -> Result<(), LaneBlocked> {
        if is_exclusive(effect) && is_being_read {
            return Err(LaneBlocked::Running);
        }
        let Some(lane) = lane_of_effect(effect) else { return Ok(()) };
        let mut working = self.lanes.working.values();
        if working.any(|one| one.name == lane.name && one.merchant == lane.merchant) {
            return Err(LaneBlocked::Running);
        }
        if lane.strict {
            let mut open = open.filter(|one| one.key != *key && one.merchant == lane.merchant);
            let is_same = |other: LaneKey| other.name == lane.name;
            if let Some(other) = open.find(|one| lane_of_intent(one).is_some_and(is_same)) {
                return Err(LaneBlocked::Unsettled(other.key.short()));
            }
        }
        self.lanes.working.insert(key.clone(), lane);
        Ok(())
    }

    /// Notes that a resource waits behind an effect. Behind one that a person has to settle it is
    /// also reported, and tried again once any effect in a lane has ended.
    pub(crate) fn wait_for_lane(&mut self, key: &Key, blocked: LaneBlocked) {
        self.busy.remove(key);
        self.backoff.clear(key);
        self.lanes.waiting.insert(key.clone());
        if let LaneBlocked::Unsettled(other) = blocked {
            let why = unsettled_message(&other);
            self.failures.insert(key, TaskFailure::Blocked(why));
        }
    }

    /// Queues the resources that waited for a lane.
    pub(crate) fn requeue_waiting(&mut self, has_work: HasWork<'_>) {
        let waiting = std::mem::take(&mut self.lanes.waiting);
        self.enqueue(waiting, has_work);
    }

    /// Frees the lane of this resource, and queues those that waited for it.
    pub(crate) fn leave_lane(&mut self, key: &Key, has_work: HasWork<'_>) {
        if self.lanes.working.remove(key).is_some() {
            self.requeue_waiting(has_work);
        }
    }

    /// Returns true if a task may start now; else it is deferred until one of its merchant ends.
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

    /// Makes every resource due that waits for an unreachable service, which answers again.
    pub(crate) fn retry_unreachable(&mut self) {
        let silent = |failure: &TaskFailure| matches!(failure, TaskFailure::Unreachable(_));
        let waiting = self.failures.all().iter().filter(|(_, failure)| silent(failure));
        let waiting: BTreeSet<Key> = waiting.map(|(key, _)| key.clone()).collect();
        self.backoff.make_due(&waiting);
    }
}
