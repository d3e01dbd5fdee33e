//! Handles the results of tasks: reads the fold again, plans again, schedules the next try.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::base::id::Key;
use crate::engine::core::coordinator::Engine;
use crate::engine::core::tasks::TaskClass;
use crate::engine::executor::partner_webhook;
use crate::engine::handles::access::awaits_authorization;
use crate::engine::handles::shared::EngineResult;
use crate::engine::handles::task_result::{TaskFailure, TaskResult};
use crate::engine::protocol::input::IncomingWebhook;
use crate::model::intent::{IntentState, OpenIntent};
use crate::model::operator::WebhookAddress;
use crate::plan::state_view::StateView;

impl Engine {
    /// Stores a partner webhook, and answers once it is durable.
    pub(crate) fn receive_webhook(&mut self, notice: IncomingWebhook, stored: oneshot::Sender<()>) {
        let shared = self.shared.clone();
        // It came while its address could not be checked; a rejected webhook is sent again.
        let good = shared.facts.rotation(&WebhookAddress::Partner);
        if good.is_ok_and(|good| !good.is_valid(notice.generation)) {
            return;
        }
        self.tasks.spawn(TaskClass::Command, async move {
            let key = partner_webhook::receive(&shared, &notice).await?;
            // The sender may have gone away; it sends the webhook again.
            stored.send(()).unwrap_or_default();
            Ok(TaskResult::RecordWritten(key))
        });
    }

    /// Plans a resource again after a record about it; a task of the resource continues.
    pub(crate) fn record_written(&mut self, key: Option<Key>) -> EngineResult<()> {
        if let Some(key) = key {
            self.known_state.refresh(&key)?;
            self.replan(self.view().affected_resources(&key));
        }
        self.run_hooks()
    }

    pub(crate) fn finish(&mut self, finished: TaskResult) -> EngineResult<()> {
        if let Some(key) = finished.resource() {
            self.release_slot(key);
        }
        if self.shared.limiter.take_reopened() {
            self.scheduler.retry_unreachable();
        }
        if self.ends_account_read(&finished) {
            return Ok(());
        }
        let (key, again) = match finished {
            TaskResult::Changed(key) => (key, None),
            TaskResult::BlockedByUnknown(key, touched) => {
                self.refresh_and_replan(touched)?;
                (key, None)
            }
            TaskResult::RetryLater(key, unable, least) => (key, Some((unable, least))),
            TaskResult::Stopped(key) => {
                self.scheduler.busy.remove(&key);
                return Ok(());
            }
            TaskResult::RecordWritten(key) => return self.record_written(key),
            TaskResult::ListSwept(swept) => return self.sweep_done(swept),
            TaskResult::EventsPolled(looked) => return self.poll_done(looked),
            TaskResult::ScriptsRecorded => return self.scripts_recorded(),
            TaskResult::Replayed => return self.hooks_due(),
            TaskResult::HooksRan(merchant) => return self.hooks_ran(&merchant),
            TaskResult::RetentionDone => {
                self.retention_done();
                return Ok(());
            }
            TaskResult::ActionTried(id, settled, key) => return self.note_try(&id, settled, key),
            TaskResult::Approved => {
                self.plan_approved();
                return Ok(());
            }
            TaskResult::AlertTried(target, outcome, reason) => {
                self.alert_tried(&target, outcome, reason);
                return Ok(());
            }
            TaskResult::Unauthorised(key, merchant) => return self.unauthorised(&key, &merchant),
            TaskResult::BookkeepingDone(keys) => return self.bookkeeping_done(keys),
            TaskResult::Released => return self.replan_all(),
            TaskResult::HoldsChanged => return self.holds_changed(),
            TaskResult::WithReply(finished, reply, to) => {
                self.finish(*finished)?;
                // The asker may have gone away; the records remain.
                drop(to.send(reply));
                return Ok(());
            }
        };
        self.scheduler.busy.remove(&key);
        let used = self.known_state.task_ended(&key);
        let left = self.waiting_removal(&key, used);
        self.shared.writer.changed_resources().forget(&key);
        self.known_state.refresh(&key)?;
        self.read_afterwards(&key)?;
        self.settle_count(&key);
        self.leave_lane(&key);
        self.readers.sweeps.schedule(&key, &self.shared)?;
        self.event_schedule.schedule(&key);
        match again {
            Some((unable, least)) if self.planner.step(&key).is_some() => {
                self.schedule_retry(key, unable, least);
            }
            Some(_) | None => {
                self.task_ended(&key);
                self.resume(&key);
            }
        }
        self.replan(left.into_iter().collect());
        Ok(())
    }

    /// Notes the end of a task that changed nothing: no removal of a merchant waits for it now.
    pub(crate) fn release_merchant(&mut self, key: &Key) {
        let used = self.known_state.task_ended(key);
        let left = self.waiting_removal(key, used);
        self.replan(left.into_iter().collect());
    }

    /// Returns the merchant without a document whose removal waits for this task or intent.
    fn waiting_removal(&self, key: &Key, used: Option<Key>) -> Option<Key> {
        let open = || self.known_state.open_intent(key).map(|open| open.intent.merchant.clone());
        let merchant = used.or_else(open)?;
        let kept = self.known_state.desired().manifests.contains_key(&merchant) || merchant == *key;
        (!kept).then_some(merchant)
    }

    /// Handles the end of a task whose merchant's credentials the service refuses.
    pub(crate) fn unauthorised(&mut self, key: &Key, merchant: &Key) -> EngineResult<()> {
        self.scheduler.busy.remove(key);
        self.known_state.task_ended(key);
        self.known_state.refresh_all([merchant, key])?;
        self.leave_lane(key);
        if self.shared.refused_merchants.contains(merchant)
            && !awaits_authorization(&self.shared, merchant)?
        {
            // The refused task still runs: at its end all of the merchant is planned again.
            return Ok(());
        }
        self.shared.refused_merchants.remove(merchant);
        self.replan(BTreeSet::from([key.clone(), merchant.clone()]));
        if self.planner.has_work(key) {
            let why = "the service refuses the credentials".to_owned();
            self.schedule_retry(key.clone(), TaskFailure::Blocked(why), Duration::ZERO);
        }
        Ok(())
    }

    /// Continues with the effects in doubt of a merchant whose credentials are accepted again.
    pub(crate) fn resume(&mut self, merchant: &Key) {
        let ready = self.planner.step(merchant).is_some_and(|step| step.ready);
        let waits = |open: &&Arc<OpenIntent>| {
            matches!(open.state, IntentState::InDoubt { .. })
                && open.intent.merchant == *merchant
                && !self.scheduler.busy.contains(&open.intent.key)
        };
        if !ready || self.stopping {
            return;
        }
        let open: Vec<Arc<OpenIntent>> =
            self.known_state.open_intents().filter(waits).cloned().collect();
        for open in open {
            self.settle_open(open);
        }
    }
}
