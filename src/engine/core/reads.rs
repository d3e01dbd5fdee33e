//! Starts due reads of accounts, lists and events, and handles their results.

use std::collections::BTreeSet;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::base::id::Key;
use crate::engine::core::coordinator::{Engine, snapshot};
use crate::engine::core::tasks::TaskClass;
use crate::engine::events::receiver::EventReceiver;
use crate::engine::handles::shared::EngineResult;
use crate::engine::handles::task_result::{PollResult, SweepResult, Task, TaskResult};
use crate::engine::protocol::input::{EngineInput, ResyncRequest};
use crate::engine::protocol::query::Reply;
use crate::model::effect::Effect;

impl Engine {
    /// Reads every list and every merchant's events on schedule from now on.
    ///
    /// # Errors
    ///
    /// The state cannot be read.
    pub fn start_sweeps(&mut self) -> EngineResult<()> {
        let merchants = snapshot!(self).merchants();
        self.event_schedule.start(&merchants, &self.shared);
        self.readers.sweeps.start(&merchants, &self.shared)
    }

    /// Builds the receiver for posts to merchants' addresses; `events` is this engine's channel.
    pub fn event_receiver(&self, events: mpsc::Sender<EngineInput>) -> EventReceiver {
        EventReceiver::new(self.shared.clone(), events)
    }

    /// Returns true if a list of an effect's merchant is being read.
    pub(crate) fn is_being_read(&self, effect: &Effect) -> bool {
        let merchant = &effect.merchant;
        self.readers.sweeps.is_reading(merchant) || self.event_schedule.under_way.contains(merchant)
    }

    fn read_slots(&self) -> usize {
        self.tasks.slots_left(TaskClass::Poll).unwrap_or(usize::MAX)
    }

    /// Returns the time at which a list or events are due; `None` while every slot is taken.
    pub(crate) fn next_read(&self) -> Option<Instant> {
        let due = [self.readers.sweeps.next_due(), self.event_schedule.next_due()];
        due.into_iter().flatten().min().filter(|_| self.read_slots() > 0)
    }

    fn start_reads(&mut self, reads: Vec<Task>) {
        for read in reads {
            self.tasks.spawn(TaskClass::Poll, read);
        }
    }

    pub(crate) fn start_account_reads(&mut self) {
        if self.stopping {
            return;
        }
        self.note_refresh_changes();
        let slots = self.read_slots();
        for (merchant, read) in self.readers.accounts.due_reads(snapshot!(self), slots) {
            self.scheduler.busy.insert(merchant);
            self.tasks.spawn(TaskClass::Poll, read);
        }
    }

    /// Sets the timers of the readings that the planner began or ceased to need.
    fn note_refresh_changes(&mut self) {
        let changed = self.planner.take_refresh_changes();
        self.readers.accounts.note_changes(changed, &self.planner);
    }

    /// Returns the time at which the next reading of accounts is due.
    pub(crate) fn next_account_read(&mut self) -> Option<Instant> {
        self.note_refresh_changes();
        self.readers.accounts.next_due(&self.scheduler.busy).filter(|_| self.read_slots() > 0)
    }

    /// Permits one more try of each due effect that was refused for a reason that may change.
    pub(crate) fn retry_refused(&mut self) {
        if self.stopping {
            return;
        }
        self.note_refresh_changes();
        let due = self.readers.accounts.due_refusals(&self.scheduler.busy).into_iter();
        let tried: BTreeSet<Key> = due.filter(|key| self.known_state.try_again(key)).collect();
        if !tried.is_empty() {
            self.replan(tried);
        }
    }

    /// Plans a resource again whose task ended; after a refusal the next try waits the interval.
    pub(crate) fn task_ended(&mut self, key: &Key) {
        self.replan(BTreeSet::from([key.clone()]));
        if self.planner.retryable_refusals.contains(key) {
            self.readers.accounts.note_read(key);
        }
    }

    /// Returns true if a task only read accounts again, and failed. The known state then stays, and
    /// the next reading follows in its time.
    pub(crate) fn ends_account_read(&mut self, finished: &TaskResult) -> bool {
        let Some(key) = finished.resource().filter(|key| self.readers.accounts.end(key)) else {
            return false;
        };
        if let TaskResult::RetryLater(_, failure, _) = finished {
            let reason = failure.message();
            tracing::warn!(key = %key, reason, "cannot read the accounts again");
        } else if !matches!(finished, TaskResult::Unauthorised(..)) {
            return false;
        }
        self.scheduler.busy.remove(key);
        self.release_merchant(key);
        true
    }

    /// Reads all blocking accounts again and does nothing else, so that the plan that a person sees
    /// and approves rests on the service's present state.
    pub async fn refresh_accounts(&mut self) -> EngineResult<()> {
        self.readers.accounts.allow_all();
        self.retry_refused();
        self.start_account_reads();
        self.finish_all().await
    }

    /// Reads every list in a process without other tasks.
    pub async fn sweep_everything(&mut self) -> EngineResult<()> {
        self.sweep_all();
        self.finish_all().await
    }

    async fn finish_all(&mut self) -> EngineResult<()> {
        while let Some(finished) = self.tasks.join_next().await {
            self.finish(finished?)?;
        }
        Ok(())
    }

    pub(crate) fn sweep(&mut self) {
        let slots = self.read_slots();
        let reads = self.readers.sweeps.due_sweeps(snapshot!(self), slots);
        self.start_reads(reads);
    }

    fn sweep_all(&mut self) {
        let merchants = snapshot!(self).merchants();
        self.readers.sweeps.request(&merchants);
        self.sweep();
    }

    /// Reads every list now, and answers with the plan once that is done.
    pub(crate) fn refresh(&mut self, reply: oneshot::Sender<Reply>) {
        self.readers.sweeps.waiters.push(reply);
        self.sweep_all();
        self.answer_refreshes();
    }

    /// Answers the waiting refreshes, once no read is under way.
    fn answer_refreshes(&mut self) {
        let waiters = self.readers.sweeps.take_waiters();
        if waiters.is_empty() {
            return;
        }
        let plan = self.view().plan_view();
        for waiter in waiters {
            // The asker may have gone away.
            drop(waiter.send(Reply::Plan(Box::new(plan.clone()))));
        }
    }

    pub(crate) fn sweep_done(&mut self, swept: SweepResult) -> EngineResult<()> {
        let SweepResult { list, seen, touched } = swept;
        self.readers.sweeps.end(&list, seen, &self.shared);
        self.requeue_waiting();
        self.refresh_and_replan(touched)?;
        self.sweep();
        self.answer_refreshes();
        Ok(())
    }

    pub(crate) fn start_due_polls(&mut self) {
        let slots = self.read_slots();
        let reads = self.event_schedule.due_polls(snapshot!(self), slots);
        self.start_reads(reads);
    }

    pub(crate) fn resync_events(&mut self, request: ResyncRequest, reply: oneshot::Sender<Reply>) {
        let merchants = snapshot!(self).merchants();
        self.event_schedule.begin_resync(request, &merchants, reply);
        self.start_due_polls();
        self.event_schedule.end_resync();
    }

    pub(crate) fn poll_done(&mut self, looked: PollResult) -> EngineResult<()> {
        self.event_schedule.end(&looked, &self.shared);
        self.requeue_waiting();
        self.event_schedule.schedule_next(&looked, &self.shared)?;
        self.refresh_and_replan(looked.touched)?;
        // Payments change the health of resources that have no new step.
        self.catch_up()?;
        self.run_hooks()
    }

    pub(crate) fn refresh_and_replan(&mut self, keys: BTreeSet<Key>) -> EngineResult<()> {
        self.known_state.refresh_all(&keys)?;
        self.replan(keys);
        Ok(())
    }
}
