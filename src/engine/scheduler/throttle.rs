//! Passes calls through the rate limiter, and throttles tasks: tasks of a merchant whose calls wait
//! leave room for others.
//!
//! A throttled merchant has few tasks at a time; its other resources are deferred until one of them
//! ends. Tasks that only wait, for the limiter or for evidence, take no room, nor do account
//! readings. So neither a slow merchant nor a thousand polls delay the start of a changed document.

use std::collections::{BTreeMap, BTreeSet};

use crate::api::call::{Auth, Host};
use crate::base::id::Key;
use crate::client::gate::Unavailable;
use crate::client::service_client::Client;
use crate::engine::core::coordinator::Engine;
use crate::engine::core::handles::EngineShared;
use crate::engine::core::task_result::TaskResult;
use crate::engine::executor::access::CredentialSource;
use crate::engine::executor::failure::TaskFailure;
use crate::model::intents::effect::StepWork;

/// Largest number of tasks of a throttled merchant: enough that its bucket never waits for us.
const TASKS_OF_SLOW_MAX: usize = 8;

/// The lane of the partner's own calls.
const PARTNER: &str = "partner";

/// Returns the client for calls of this kind: in the merchant's lane, or the partner's own.
pub(crate) fn client_for(shared: &EngineShared, wallet: &CredentialSource, auth: Auth) -> Client {
    shared.client.limited_by(shared.limiter(), &lane_name(&wallet.merchant, auth), wallet.urgency)
}

/// Waits until a request may go to this host, before its intent is written.
pub(crate) async fn wait_until_ready(
    shared: &EngineShared,
    wallet: &CredentialSource,
    (host, auth, web_url): (Host, Auth, Option<&str>),
) -> Result<(), Unavailable> {
    let client = client_for(shared, wallet, auth);
    let brand = web_url.map(|web_url| client.with_web_url(web_url));
    // An unusable address is reported when the request is sent.
    let client = brand.and_then(Result::ok).unwrap_or(client);
    client.reserve(host).await
}

/// Returns the lane of these calls.
fn lane_name(merchant: &Key, auth: Auth) -> String {
    match auth {
        Auth::None | Auth::Tenant => PARTNER.to_owned(),
        Auth::Payments | Auth::PublicKey | Auth::SecretKey => merchant.to_string(),
    }
}

/// Tasks under way by lane, and the deferred resources.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    working: BTreeMap<Key, String>,
    lanes: BTreeMap<String, ThrottleLane>,
}

#[derive(Debug, Default)]
struct ThrottleLane {
    working: usize,
    deferred: BTreeSet<Key>,
}

impl Engine {
    /// Returns the permitted number of tasks, including those that take no room.
    pub(crate) fn capacity(&self, room: usize) -> usize {
        room.saturating_add(self.shared.resting()).saturating_add(self.account_reads())
    }

    /// Returns true if a task may start now; otherwise its resource is deferred until another task
    /// of its merchant ends.
    pub(crate) fn admit(&mut self, key: &Key, work: &StepWork) -> bool {
        let name = match work {
            StepWork::Effect(effect) => lane_name(&effect.merchant, effect.request.auth),
            StepWork::Read(reading) => reading.merchant.to_string(),
            StepWork::Record(_) => return true,
        };
        let lane = self.throttle.lanes.entry(name.clone()).or_default();
        if lane.working >= TASKS_OF_SLOW_MAX && self.shared.limiter().is_slowed(&name) {
            lane.deferred.insert(key.clone());
            return false;
        }
        lane.working = lane.working.saturating_add(1);
        self.throttle.working.insert(key.clone(), name);
        true
    }

    /// Notes that a task has ended or could not start; queues resources that were deferred for it.
    pub(crate) fn release_slot(&mut self, key: &Key) {
        let Some(name) = self.throttle.working.remove(key) else { return };
        let Some(lane) = self.throttle.lanes.get_mut(&name) else { return };
        lane.working = lane.working.saturating_sub(1);
        self.resume_deferred(&name);
    }

    /// Queues deferred resources that wait for no task of their merchant.
    pub(crate) fn resume_idle_lanes(&mut self) {
        let idle = self.throttle.lanes.iter().filter(|(_, lane)| lane.working == 0);
        let idle: Vec<String> = idle.map(|(name, _)| name.clone()).collect();
        for name in idle {
            self.resume_deferred(&name);
        }
    }

    /// Queues as many deferred resources as their merchant has room for.
    fn resume_deferred(&mut self, name: &str) {
        let Some(lane) = self.throttle.lanes.get_mut(name) else { return };
        let slowed = self.shared.limiter().is_slowed(name);
        let most = if slowed { TASKS_OF_SLOW_MAX } else { usize::MAX };
        let room = most.saturating_sub(lane.working);
        let mut parked = std::mem::take(&mut lane.deferred);
        let mut queued: usize = 0;
        while queued < room {
            let Some(key) = parked.pop_first() else { break };
            self.enqueue(BTreeSet::from([key.clone()]));
            queued = queued.saturating_add(usize::from(self.queue.contains(&key)));
        }
        if let Some(lane) = self.throttle.lanes.get_mut(name) {
            lane.deferred = parked;
            if lane.working == 0 && lane.deferred.is_empty() {
                self.throttle.lanes.remove(name);
            }
        }
    }

    /// Applies changes of the limiter during a task.
    pub(crate) fn after_calls(&mut self, finished: &TaskResult) {
        match finished {
            TaskResult::Changed(key)
            | TaskResult::BlockedByUnknown(key, _)
            | TaskResult::RetryLater(key, _, _)
            | TaskResult::Stopped(key)
            | TaskResult::Unauthorised(key, _) => self.release_slot(key),
            TaskResult::RecordWritten(_)
            | TaskResult::ListSwept(_)
            | TaskResult::EventsPolled(_)
            | TaskResult::HooksRan(_)
            | TaskResult::Replayed
            | TaskResult::ScriptsRecorded
            | TaskResult::RetentionDone
            | TaskResult::ActionTried(..)
            | TaskResult::Approved
            | TaskResult::BookkeepingDone(_)
            | TaskResult::Released
            | TaskResult::WithReply(..)
            | TaskResult::Broken(_) => {}
        }
        if self.shared.limiter().take_reopened() {
            self.retry_unreachable();
        }
    }

    /// Retries at once every resource that waited for an unreachable service, since the service
    /// answers again.
    fn retry_unreachable(&mut self) {
        let silent = |unable: &TaskFailure| matches!(unable, TaskFailure::Unreachable(_));
        let waiting = self.failures.iter().filter(|(_, unable)| silent(unable));
        let waiting: BTreeSet<Key> = waiting.map(|(key, _)| key.clone()).collect();
        self.backoff.make_due(&waiting);
    }
}
