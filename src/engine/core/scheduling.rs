//! Connects the scheduler, the limits of the whole plan and the money cap of a run to the planner and to
//! the ends of tasks.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::engine::core::coordinator::Engine;
use crate::engine::handles::shared::{EngineError, EngineResult};
use crate::engine::handles::task_result::TaskFailure;
use crate::engine::limits::plan_cap::PlanCap;
use crate::engine::scheduler::schedule::LaneBlocked;
use crate::model::change::LimitExceeded;
use crate::model::effect::Effect;
use crate::model::plan::{Reason, Step};
use crate::plan::state_view::StateView;

impl Engine {
    /// Queues those of these resources whose step can be done now.
    pub(crate) fn enqueue(&mut self, keys: BTreeSet<Key>) {
        self.note_steps(&keys);
        self.scheduler.enqueue(keys, &|key| self.planner.has_work(key));
    }

    /// Notes which of the failed resources still have a step that could be tried.
    pub(crate) fn note_steps(&mut self, planned: &BTreeSet<Key>) {
        self.alerts.touch(planned);
        for key in planned {
            let step = self.planner.step(key);
            let is_possible = step.is_some_and(|step| !step.needs_operator());
            self.scheduler.failures.note_step(key, is_possible);
        }
    }

    /// Queues the resources that waited for a lane.
    pub(crate) fn requeue_waiting(&mut self) {
        self.scheduler.requeue_waiting(&|key| self.planner.has_work(key));
    }

    pub(crate) fn take_lane(&mut self, key: &Key, effect: &Effect) -> Result<(), LaneBlocked> {
        let is_being_read = self.is_being_read(effect);
        let open = self.known_state.open_intents().map(|open| &open.intent);
        self.scheduler.take_lane(key, effect, is_being_read, open)
    }

    /// Returns true if an effect may start now; otherwise it waits for its lane.
    pub(crate) fn enter_lane(&mut self, key: &Key, effect: &Effect) -> bool {
        let Err(blocked) = self.take_lane(key, effect) else { return true };
        self.scheduler.wait_for_lane(key, blocked);
        false
    }

    /// Frees the lane of this resource, and requests the deferred actions again.
    pub(crate) fn leave_lane(&mut self, key: &Key) {
        self.scheduler.leave_lane(key, &|key| self.planner.has_work(key));
        for request in std::mem::take(&mut self.scheduler.lanes.acts) {
            self.act(request);
        }
    }

    /// Notes that a task has ended or could not start; queues resources that were deferred for it.
    pub(crate) fn release_slot(&mut self, key: &Key) {
        self.scheduler.release_slot(key, &|key| self.planner.has_work(key));
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
        self.recompute([key]);
    }

    /// Lets changes out, or none of them, as the freeze in force says.
    pub(crate) fn close_or_open_gate(&self) {
        let reason = self.known_state.holds.freeze().map(ToString::to_string);
        self.shared.limiter.set_frozen(reason);
    }

    /// Handles the record of a freeze, of its end, or of a sync.
    pub(crate) fn holds_changed(&mut self) -> EngineResult<()> {
        let was_frozen = self.known_state.holds.freeze().is_some();
        self.known_state.holds.reload()?;
        self.close_or_open_gate();
        match self.known_state.holds.freeze() {
            Some(freeze) => tracing::warn!(target: "reckon::freeze", "{}", freeze.sentence()),
            None if was_frozen => {
                tracing::warn!(target: "reckon::freeze", "thawed: changes go to the service again");
                self.scheduler.retry_unreachable();
            }
            None => {}
        }
        self.queue_held();
        self.hooks_due()
    }

    /// Queues the effects that waited for the end of a freeze or for a sync, if no person holds them.
    fn queue_held(&mut self) {
        if self.known_state.holds.by_person().is_none() {
            let waiting = self.scheduler.held.take(&None);
            self.enqueue(waiting);
        }
    }

    /// Notes the windows and freezes that began or ended until now, and queues the effects that waited
    /// for one of them. Between two such moments it costs a look at each rule.
    pub(crate) fn advance_time_rules(&mut self) {
        for change in self.known_state.holds.timed.advance(self.shared.now()) {
            if let Some(notice) = change.notice {
                tracing::info!(target: "reckon::times", "{notice}");
            }
            let waiting = self.scheduler.held.take(&Some(change.name));
            self.enqueue(waiting);
        }
    }

    /// Lets effects of documents start only after a person's sync of these documents.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn require_sync(&mut self) -> EngineResult<()> {
        let tree = self.view().synced_tree();
        Ok(self.known_state.holds.set_manual_tree(tree)?)
    }

    /// Names the documents anew after a read. The documents of the last sync may be back.
    pub(crate) fn rename_synced_tree(&mut self) -> EngineResult<()> {
        if self.known_state.holds.is_manual() {
            self.require_sync()?;
            self.queue_held();
        }
        Ok(())
    }

    /// Handles a moved clock: everything that waits for a time now past continues at once.
    pub(crate) fn clock_moved(&mut self) -> EngineResult<()> {
        self.known_state.reload_suspensions()?;
        self.replan_dated();
        self.hooks_due()
    }

    /// Compares the plan as a whole with the limits, and plans the affected steps again. A
    /// comparison that fails changes nothing: the meter fails too, and stops everything.
    pub(crate) fn check_whole_plan(&mut self) {
        let guard = self.shared.guard.clone();
        if !guard.is_limited() {
            return;
        }
        let tree = self.view().tree_name();
        let whole = match self.view().find_exceeded(&guard, &tree) {
            Ok(whole) => whole,
            Err(error) => return tracing::error!(%error, "cannot compare the plan with the limits"),
        };
        let mut counting = guard.counting();
        let moved = counting.whole != whole || counting.tree != tree;
        counting.whole = whole;
        counting.tree = tree;
        drop(counting);
        if moved {
            let keys: BTreeSet<Key> = self.view().spend_requests().map(|wish| wish.key).collect();
            self.recompute(keys);
        }
    }

    /// Handles the approval of a plan: plans every resource again that a limit blocked.
    pub(crate) fn plan_approved(&mut self) {
        self.check_whole_plan();
        let over = |step: &&std::sync::Arc<Step>| matches!(step.reason, Reason::OverLimit(_));
        let keys = self.planner.steps().filter(over).map(|step| step.key.clone()).collect();
        self.replan(keys);
    }

    /// Returns the limits that the plan as a whole exceeds; with any, `apply` does nothing.
    pub fn exceeded_limits(&self) -> Vec<LimitExceeded> {
        let counting = self.shared.guard.counting();
        counting.whole.iter().map(|whole| whole.over.clone()).collect()
    }

    /// Caps this run at the money of the present plan. A resource outside that plan is not capped.
    pub fn cap_to_plan(&mut self) {
        self.plan_cap = Some(PlanCap::of(self.planner.steps().map(|step| &**step)));
    }

    /// Counts the amount that an effect is about to ask for.
    pub(crate) fn count(&mut self, key: &Key, effect: &Effect) -> EngineResult<()> {
        let Some(cap) = &mut self.plan_cap else { return Ok(()) };
        cap.count_effect(key, effect)
            .map_err(|why| EngineError::Bug(format!("not sent, since it exceeds the plan: {why}")))
    }

    /// Handles the end of a try. A try that is neither done nor open did nothing: its absence was
    /// proved, or it was refused. The next try is then not a second one.
    pub(crate) fn settle_count(&mut self, key: &Key) {
        let known = self.known_state.observed(key);
        let is_applied = |digest: &Digest| {
            let applied = known.as_ref().and_then(|known| known.applied.as_ref());
            applied.is_some_and(|applied| applied.digest == *digest)
        };
        let tried = self.plan_cap.as_ref().and_then(|cap| cap.tries.get(key));
        let undone = tried.is_some_and(|digest| !is_applied(digest));
        if undone && self.known_state.open_intent(key).is_none() {
            self.uncount(key);
        }
    }

    /// Takes back the amount of a resource for which nothing was sent.
    pub(crate) fn uncount(&mut self, key: &Key) {
        if let Some(cap) = &mut self.plan_cap {
            cap.subtract(key);
        }
    }
}
