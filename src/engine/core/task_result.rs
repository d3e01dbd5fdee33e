//! Tasks: their start, and the consequences of their end.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::sync::oneshot;

use super::coordinator::Engine;
use super::handles::EngineError;
use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key};
use crate::engine::events::partner_webhook;
use crate::engine::events::partner_webhook::IncomingWebhook;
use crate::engine::events::poll::PollResult;
use crate::engine::executor::access::CredentialSource;
use crate::engine::executor::failure::TaskFailure;
use crate::engine::queries::protocol::Reply;
use crate::engine::readers::sweep::SweepResult;
use crate::model::events::hook_run::ActionRequestId;
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Cause;
use crate::model::operator::rotation::WebhookAddress;
use crate::plan::state_view::StateView;

/// The result of a task. Its work is in the journal; the result only decides on another try.
#[derive(Debug)]
pub enum TaskResult {
    /// Something was recorded: plan the resource again.
    Changed(Key),
    /// Unknown objects block this resource; the set names the resources under which they are
    /// recorded.
    BlockedByUnknown(Key, BTreeSet<Key>),
    /// The try failed; try again after a wait of at least this duration.
    RetryLater(Key, TaskFailure, Duration),
    /// A record about this resource, if any, was written outside its own task, such as a partner
    /// webhook.
    RecordWritten(Option<Key>),
    /// A list of the service was read.
    ListSwept(SweepResult),
    /// A merchant's events were read.
    EventsPolled(PollResult),
    /// Hooks that failed for good are to be run again.
    Replayed,
    /// The list of scripts that are used from now on is on disk.
    ScriptsRecorded,
    /// A search for settled old data has ended.
    RetentionDone,
    /// The hooks of a merchant's events have run.
    HooksRan(Key),
    /// A try of a hook's action has ended: true if it is settled, and the resource to plan again.
    ActionTried(ActionRequestId, bool, Option<Key>),
    /// A plan was approved: plan every resource again that a limit blocks.
    Approved,
    /// Bookkeeping records of these resources were written.
    BookkeepingDone(BTreeSet<Key>),
    /// A release was recorded: plan everything again.
    Released,
    /// Handles the inner result first, and then sends this answer: the asker's next question sees
    /// the consequences.
    WithReply(Box<TaskResult>, Reply, oneshot::Sender<Reply>),
    /// The task was requested to stop.
    Stopped(Key),
    /// The service refuses the credentials: the resource, and its merchant.
    Unauthorised(Key, Key),
    /// The state on disk failed, or the program has a mistake: everything ends.
    Broken(EngineError),
}

impl TaskResult {
    /// Adds an answer that is sent once the engine has handled this result.
    pub(crate) fn with_reply(self, reply: Reply, to: oneshot::Sender<Reply>) -> Self {
        Self::WithReply(Box::new(self), reply, to)
    }
}

/// One effect to be performed.
#[derive(Debug)]
pub(crate) struct EffectJob {
    /// The number of its intent.
    pub id: IntentId,
    pub effect: Effect,
    /// The sources of the merchant's credentials.
    pub wallet: CredentialSource,
    pub cause: Cause,
    /// Digest of its document without the amounts; approvals are bound to it.
    pub rest: Digest,
    /// True if an earlier try failed: it counts against the limits all the same.
    pub again: bool,
}

impl Engine {
    /// Stores a partner webhook, and answers once it is durable.
    pub(crate) fn receive_webhook(&mut self, notice: IncomingWebhook, stored: oneshot::Sender<()>) {
        let shared = self.shared.clone();
        // Its address could not be checked while the state was closed: the service sends a rejected
        // webhook again.
        let good = shared.facts.rotation(&WebhookAddress::Partner);
        if good.is_ok_and(|good| !good.is_valid(notice.generation)) {
            return;
        }
        self.tasks.spawn(async move {
            match partner_webhook::receive(&shared, &notice).await {
                Ok(key) => {
                    // The sender may have gone away; it sends the webhook again.
                    stored.send(()).unwrap_or_default();
                    TaskResult::RecordWritten(key)
                }
                Err(error) => TaskResult::Broken(error),
            }
        });
    }

    /// Plans a resource again after a record about it; a task of the resource continues.
    pub(crate) fn record_written(&mut self, key: Option<Key>) -> Result<(), EngineError> {
        if let Some(key) = key {
            self.known_state.refresh(&self.shared.facts, &key)?;
            self.replan(self.affected_resources(&key));
        }
        self.run_hooks()
    }

    /// Handles the end of a task.
    pub(crate) fn finish(&mut self, finished: TaskResult) -> Result<(), EngineError> {
        self.after_calls(&finished);
        if self.ends_account_read(&finished) {
            return Ok(());
        }
        let (key, again) = match finished {
            TaskResult::Changed(key) => (key, None),
            TaskResult::BlockedByUnknown(key, touched) => {
                for one in &touched {
                    self.known_state.refresh(&self.shared.facts, one)?;
                }
                self.replan(touched);
                (key, None)
            }
            TaskResult::RetryLater(key, unable, least) => (key, Some((unable, least))),
            TaskResult::Stopped(key) => {
                self.busy.remove(&key);
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
            TaskResult::ActionTried(id, settled, key) => {
                return self.action_tried(&id, settled, key);
            }
            TaskResult::Approved => {
                self.plan_approved();
                return Ok(());
            }
            TaskResult::Unauthorised(key, merchant) => {
                return self.task_unauthorised(&key, &merchant);
            }
            TaskResult::BookkeepingDone(keys) => return self.bookkeeping_done(keys),
            TaskResult::Released => return self.replan_all(),
            TaskResult::WithReply(finished, reply, to) => {
                self.finish(*finished)?;
                // The asker may have gone away; the records remain.
                drop(to.send(reply));
                return Ok(());
            }
            TaskResult::Broken(error) => return Err(error),
        };
        self.busy.remove(&key);
        let used = self.known_state.task_ended(&key);
        let left = self.waiting_removal(&key, used);
        self.shared.writer.changed_resources().forget(&key);
        self.known_state.refresh(&self.shared.facts, &key)?;
        self.read_afterwards(&key)?;
        self.settle_count(&key);
        self.leave_lane(&key);
        self.schedule_sweeps(&key);
        self.schedule_events(&key);
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

    /// Notes the end of a task that changed nothing: a merchant that is being removed no longer
    /// waits for it.
    pub(crate) fn release_merchant(&mut self, key: &Key) {
        let used = self.known_state.task_ended(key);
        let left = self.waiting_removal(key, used);
        self.replan(left.into_iter().collect());
    }

    /// Returns the merchant without a document whose removal waits for a task or an open intent of
    /// this resource.
    fn waiting_removal(&self, key: &Key, used: Option<Key>) -> Option<Key> {
        let open = || self.known_state.open_intent(key).map(|open| open.intent.merchant.clone());
        let merchant = used.or_else(open)?;
        let stays =
            self.known_state.desired().manifests.contains_key(&merchant) || merchant == *key;
        (!stays).then_some(merchant)
    }

    /// Schedules another try of a resource, or gives it up after too many failures.
    pub(crate) fn schedule_retry(&mut self, key: Key, unable: TaskFailure, least: Duration) {
        self.uncount(&key);
        let shared = self.shared.clone();
        let least = least.max(unable.wait_min());
        let failures = shared.random(|rng| self.backoff.fail(&key, least, rng));
        let most = shared.settings.failures_max.map(|most| unable.tries(most));
        if most.is_some_and(|most| failures >= most) {
            self.backoff.give_up(&key);
        }
        if matches!(unable, TaskFailure::Waiting(_)) {
            tracing::info!(key = %key, reason = unable.message(), "waits");
        } else {
            tracing::warn!(key = %key, failures, reason = unable.message(), "effect delayed");
        }
        self.failures.insert(key.clone(), unable);
        let made = self.planner.recompute(&self.known_state, [key]);
        self.enqueue(made);
    }
}
