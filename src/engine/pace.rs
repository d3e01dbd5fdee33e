//! Passes calls through the rate limiter, and throttles tasks: tasks of a merchant whose calls wait
//! leave room for others.
//!
//! A throttled merchant has few tasks at a time; its other resources are deferred until one of them
//! ends. Tasks that only wait, for the limiter or for evidence, take no room, nor do account
//! readings. So neither a slow merchant nor a thousand polls delay the start of a changed document.

use std::collections::{BTreeMap, BTreeSet};

use super::Engine;
use super::access::Wallet;
use super::shared::Shared;
use super::tasks::Finished;
use super::unable::Unable;
use crate::api::{Auth, Host};
use crate::base::id::Key;
use crate::client::{Client, Shut};
use crate::model::effect::Work;

/// Largest number of tasks of a throttled merchant: enough that its bucket never waits for us.
const TASKS_OF_SLOW_MAX: usize = 8;

/// The lane of the partner's own calls.
const PARTNER: &str = "partner";

/// Returns the client for calls of this kind: in the merchant's lane, or the partner's own.
pub(super) fn calls(shared: &Shared, wallet: &Wallet, auth: Auth) -> Client {
    shared.client.through(shared.gate(), &lane(&wallet.merchant, auth), wallet.urgency)
}

/// Waits until a request may go to this host, before its intent is written.
pub(super) async fn ready(
    shared: &Shared,
    wallet: &Wallet,
    (host, auth, web_url): (Host, Auth, Option<&str>),
) -> Result<(), Shut> {
    let client = calls(shared, wallet, auth);
    let brand = web_url.map(|web_url| client.with_web_url(web_url));
    // An unusable address is reported when the request is sent.
    let client = brand.and_then(Result::ok).unwrap_or(client);
    client.ready(host).await
}

/// Returns the lane of these calls.
fn lane(merchant: &Key, auth: Auth) -> String {
    match auth {
        Auth::None | Auth::Tenant => PARTNER.to_owned(),
        Auth::Payments | Auth::PublicKey | Auth::SecretKey => merchant.to_string(),
    }
}

/// Tasks under way by lane, and the deferred resources.
#[derive(Debug, Default)]
pub(super) struct Pace {
    working: BTreeMap<Key, String>,
    lanes: BTreeMap<String, Lane>,
}

#[derive(Debug, Default)]
struct Lane {
    working: usize,
    parked: BTreeSet<Key>,
}

impl Engine {
    /// Returns the permitted number of tasks, including those that take no room.
    pub(super) fn room(&self, room: usize) -> usize {
        room.saturating_add(self.shared.resting()).saturating_add(self.reading_again())
    }

    /// Returns true if a task may start now; otherwise its resource is deferred until another task
    /// of its merchant ends.
    pub(super) fn paced(&mut self, key: &Key, work: &Work) -> bool {
        let name = match work {
            Work::Effect(effect) => lane(&effect.merchant, effect.request.auth),
            Work::Read(reading) => reading.merchant.to_string(),
            Work::Note(_) => return true,
        };
        let lane = self.pace.lanes.entry(name.clone()).or_default();
        if lane.working >= TASKS_OF_SLOW_MAX && self.shared.gate().is_slowed(&name) {
            lane.parked.insert(key.clone());
            return false;
        }
        lane.working = lane.working.saturating_add(1);
        self.pace.working.insert(key.clone(), name);
        true
    }

    /// Notes that a task has ended or could not start; queues resources that were deferred for it.
    pub(super) fn unpaced(&mut self, key: &Key) {
        let Some(name) = self.pace.working.remove(key) else { return };
        let Some(lane) = self.pace.lanes.get_mut(&name) else { return };
        lane.working = lane.working.saturating_sub(1);
        self.unpark(&name);
    }

    /// Queues deferred resources that wait for no task of their merchant.
    pub(super) fn unpark_idle(&mut self) {
        let idle = self.pace.lanes.iter().filter(|(_, lane)| lane.working == 0);
        let idle: Vec<String> = idle.map(|(name, _)| name.clone()).collect();
        for name in idle {
            self.unpark(&name);
        }
    }

    /// Queues as many deferred resources as their merchant has room for.
    fn unpark(&mut self, name: &str) {
        let Some(lane) = self.pace.lanes.get_mut(name) else { return };
        let slowed = self.shared.gate().is_slowed(name);
        let most = if slowed { TASKS_OF_SLOW_MAX } else { usize::MAX };
        let room = most.saturating_sub(lane.working);
        let mut parked = std::mem::take(&mut lane.parked);
        let mut queued: usize = 0;
        while queued < room {
            let Some(key) = parked.pop_first() else { break };
            self.enqueue(BTreeSet::from([key.clone()]));
            queued = queued.saturating_add(usize::from(self.queue.contains(&key)));
        }
        if let Some(lane) = self.pace.lanes.get_mut(name) {
            lane.parked = parked;
            if lane.working == 0 && lane.parked.is_empty() {
                self.pace.lanes.remove(name);
            }
        }
    }

    /// Applies changes of the limiter during a task.
    pub(super) fn after_calls(&mut self, finished: &Finished) {
        match finished {
            Finished::Moved(key)
            | Finished::Barred(key, _)
            | Finished::Again(key, _, _)
            | Finished::Stopped(key)
            | Finished::Unauthorised(key, _) => self.unpaced(key),
            Finished::Heard(_)
            | Finished::Swept(_)
            | Finished::Looked(_)
            | Finished::HooksRan(_)
            | Finished::Replayed
            | Finished::Enrolled
            | Finished::Retained
            | Finished::Granted(..)
            | Finished::Approved
            | Finished::Booked(_)
            | Finished::Released
            | Finished::Answered(..)
            | Finished::Broken(_) => {}
        }
        if self.shared.gate().reopened() {
            self.rouse();
        }
    }

    /// Retries at once every resource that waited for an unreachable service, since the service
    /// answers again.
    fn rouse(&mut self) {
        let silent = |unable: &Unable| matches!(unable, Unable::Unreachable(_));
        let waiting = self.unable.iter().filter(|(_, unable)| silent(unable));
        let waiting: BTreeSet<Key> = waiting.map(|(key, _)| key.clone()).collect();
        self.backoff.hasten(&waiting);
    }
}
