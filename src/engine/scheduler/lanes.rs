//! Lanes: effects in one lane never run concurrently (see [`Isolation`]). Of a merchant's effects
//! without a mark only one is open at a time, so that a lost answer can be attributed. An object
//! has at most one change under way. Of effects that do the same, such as the upload of one file,
//! the second waits for the first. Then it has nothing left to do.

use super::schedule::{HasWork, Scheduler};
use crate::base::id::Key;
use crate::engine::handles::failure::TaskFailure;
use crate::engine::scheduler::lane_table::{
    LaneBlocked, LaneKey, is_exclusive, lane_of_effect, lane_of_intent,
};
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;

/// Describes an effect that no lost answer could be told apart from.
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
    ///
    /// # Errors
    /// The lane is taken.
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
        if let Some(other) = lane.strict.then(|| unsettled_in_lane(key, &lane, open)).flatten() {
            return Err(LaneBlocked::Unsettled(other));
        }
        self.lanes.working.insert(key.clone(), lane);
        Ok(())
    }

    /// Returns true if an effect may start now. An effect behind one under way waits for it. An
    /// effect behind one that a person has to settle also waits, and is reported; it is tried again
    /// once any effect in a lane has ended.
    pub(crate) fn enter_lane<'a>(
        &mut self,
        key: &Key,
        effect: &Effect,
        is_being_read: bool,
        open: impl Iterator<Item = &'a Intent>,
    ) -> bool {
        let Err(blocked) = self.take_lane(key, effect, is_being_read, open) else { return true };
        self.busy.remove(key);
        self.backoff.clear(key);
        self.lanes.waiting.insert(key.clone());
        if let LaneBlocked::Unsettled(other) = blocked {
            let why = unsettled_message(&other);
            self.failures.insert(key.clone(), TaskFailure::Blocked(why));
        }
        false
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
}

/// Returns the resource of another unsettled effect in this lane.
fn unsettled_in_lane<'a>(
    key: &Key,
    lane: &LaneKey,
    open: impl Iterator<Item = &'a Intent>,
) -> Option<String> {
    let mut open = open.filter(|one| one.key != *key && one.merchant == lane.merchant);
    let same = open.find(|one| lane_of_intent(one).is_some_and(|other| other.name == lane.name));
    same.map(|one| one.key.short())
}
