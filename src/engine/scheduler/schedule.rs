//! The scheduler: decides which resource may work now. The coordinator starts the tasks.
//!
//! Owns the queue, the resources with a task under way, lanes, throttle, backoff, failures and the
//! selected targets. Guarantees: a resource has at most one task; two effects of one lane never run
//! concurrently; no operation costs more with the number of waiting resources.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rand_core::Rng;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::base::fault_injection;
use crate::base::id::{Key, RemoteId};
use crate::client::gate::Limiter;
use crate::effects::core::row::Isolation;
use crate::effects::register::effect_row;
use crate::engine::handles::registers::KeySet;
use crate::engine::handles::task_result::TaskFailure;
use crate::engine::protocol::actions::{ActionCommand, ActionReport};
use crate::engine::protocol::query::Reply;
use crate::engine::scheduler::backoff::Backoff;
use crate::engine::scheduler::failures::Failures;
use crate::engine::scheduler::held::HeldResources;
use crate::model::effect::Effect;
use crate::model::intent::Intent;

/// Returns true for a resource whose step can be done now.
pub(crate) type HasWork<'a> = &'a dyn Fn(&Key) -> bool;

#[derive(derive_more::Debug)]
#[debug("Scheduler({} busy, {} queued)", busy.len(), queue.len())]
pub(crate) struct Scheduler {
    pub(crate) queue: BTreeSet<Key>,
    pub(crate) busy: BTreeSet<Key>,
    /// Resources whose effect waits for the end of a hold.
    pub(crate) held: HeldResources,
    pub(crate) lanes: LaneTable,
    pub(crate) throttle: Throttle,
    pub(crate) backoff: Backoff,
    /// Resources whose last attempt failed, with the failure.
    pub(crate) failures: Failures,
    /// The selected resources; `None` selects all.
    pub(crate) targets: Option<BTreeSet<Key>>,
    pub(crate) superseded: Arc<KeySet>,
    pub(crate) limiter: Arc<Limiter>,
    /// The last time at which nothing was left that could be done; `None` before the first.
    pub(crate) reconciled_at: Option<DateTime<Utc>>,
}

impl Scheduler {
    pub(crate) fn new(limiter: Arc<Limiter>, superseded: Arc<KeySet>) -> Self {
        Self {
            queue: BTreeSet::new(),
            busy: BTreeSet::new(),
            held: HeldResources::default(),
            lanes: LaneTable::default(),
            throttle: Throttle::default(),
            backoff: Backoff::default(),
            failures: Failures::default(),
            targets: None,
            superseded,
            limiter,
            reconciled_at: None,
        }
    }

    /// Selects the resources that may work, and drops all others from the queue.
    pub(crate) fn select_targets(&mut self, keys: BTreeSet<Key>) {
        self.queue.retain(|key| keys.contains(key));
        self.targets = Some(keys);
    }

    pub(crate) fn is_selected(&self, key: &Key) -> bool {
        self.targets.as_ref().is_none_or(|chosen| chosen.contains(key))
    }

    /// Marks resources as having a task under way; they leave the queue.
    pub(crate) fn lock(&mut self, keys: impl IntoIterator<Item = Key>) {
        for key in keys {
            self.queue.remove(&key);
            self.busy.insert(key);
        }
    }

    /// Notes the time if no task of the plan is queued or under way.
    pub(crate) fn note_rest(&mut self, now: DateTime<Utc>) {
        if self.queue.is_empty() && self.busy.is_empty() {
            self.reconciled_at = Some(now);
        }
    }

    /// Returns true if no resource can start, now or after a wait.
    pub(crate) fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.backoff.timers.is_empty()
    }

    /// Forgets the failure and the backoff of a resource, since something about it changed.
    pub(crate) fn forget_failure(&mut self, key: &Key) {
        self.failures.remove(key);
        self.backoff.clear(key);
    }

    /// Notes a failed try: the next one is due after a growing, random wait of at least `least`.
    /// After `tries_max` failures in a row the resource is given up. Returns the number of failures.
    pub(crate) fn fail(
        &mut self,
        key: &Key,
        failure: TaskFailure,
        (least, tries_max): (Duration, Option<u32>),
        rng: &mut dyn Rng,
    ) -> u32 {
        let failures = self.backoff.fail(key, least.max(failure.wait_min()), rng);
        if tries_max.is_some_and(|most| failures >= failure.tries(most)) {
            self.backoff.stop(key);
        }
        self.failures.insert(key, failure);
        failures
    }

    /// Queues those of these resources whose step can be done now; the others leave the queue.
    pub(crate) fn enqueue(&mut self, keys: BTreeSet<Key>, has_work: HasWork<'_>) {
        for key in keys {
            self.held.remove(&key);
            let is_busy = self.busy.contains(&key);
            if is_busy {
                self.superseded.insert(&key);
            }
            let free = !is_busy || fault_injection::is_active("two-open-effects");
            let may_start = has_work(&key) && self.is_selected(&key) && free;
            if may_start && !self.backoff.is_blocked(&key) {
                self.queue.insert(key);
            } else {
                self.queue.remove(&key);
            }
        }
    }

    /// Queues the resources whose wait is over. A resource without work has its wait ended, since
    /// it would be due for ever; its present reason is then reported instead.
    pub(crate) fn retry(&mut self, has_work: HasWork<'_>) {
        let due = self.backoff.take_due();
        self.enqueue(due.clone(), has_work);
        for key in due.iter().filter(|key| !self.queue.contains(*key)) {
            self.backoff.clear(key);
            if !has_work(key) {
                self.failures.remove(key);
            }
        }
    }
}

/// Tasks under way by lane, and the deferred resources.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    pub(crate) working: BTreeMap<Key, String>,
    pub(crate) lanes: BTreeMap<String, ThrottleLane>,
}

#[derive(Debug, Default)]
pub(crate) struct ThrottleLane {
    pub(crate) working: usize,
    pub(crate) deferred: BTreeSet<Key>,
}

/// A requested action, and the channel of its answer.
#[derive(Debug)]
pub(crate) struct RequestedAction {
    pub(crate) command: ActionCommand,
    pub(crate) reply: oneshot::Sender<Reply>,
    /// True if a hook asked, whose task waits for the answer. The next engine requests such an action
    /// again by itself.
    pub(crate) by_hook: bool,
}

impl RequestedAction {
    /// Answers; the asker may have gone away.
    pub(crate) fn answer(self, told: ActionReport) {
        drop(self.reply.send(Reply::Action(Box::new(told))));
    }
}

/// The effects under way by lane, and the waiting resources.
#[derive(Debug, Default)]
pub(crate) struct LaneTable {
    pub(crate) working: BTreeMap<Key, LaneKey>,
    pub(crate) waiting: BTreeSet<Key>,
    /// Actions that wait for a lane.
    pub(crate) acts: Vec<RequestedAction>,
}

impl LaneTable {
    /// Requests an action again once an effect has ended.
    pub(crate) fn defer_action(&mut self, request: RequestedAction) {
        self.acts.push(request);
    }

    /// Drops the actions that hooks requested: an engine that stops waits for the hooks' tasks.
    pub(crate) fn drop_actions_of_hooks(&mut self) {
        self.acts.retain(|request| !request.by_hook);
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LaneKey {
    pub(crate) merchant: Key,
    pub(crate) name: String,
    /// True if an unsettled effect blocks the lane, too.
    pub(crate) strict: bool,
}

/// The reason why an effect cannot start now.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LaneBlocked {
    /// Another one is under way and will end.
    Running,
    /// Another one is unsettled: the effect of this resource.
    Unsettled(String),
}

/// Returns the lane of an effect from its row; `None` for an effect without a lane.
pub(crate) fn lane_of(
    name: &str,
    merchant: &Key,
    target: Option<&RemoteId>,
    about: &Value,
) -> Option<LaneKey> {
    let of = |name: String, strict| Some(LaneKey { merchant: merchant.clone(), name, strict });
    match effect_row(name)?.isolation {
        Isolation::None | Isolation::Exclusive => None,
        Isolation::PerMerchant => of(name.to_owned(), true),
        Isolation::PerObject => of(format!("on {}", target?), true),
        Isolation::PerContent => of(format!("{name} {about}"), true),
        Isolation::Dedup => of(format!("{name} {about}"), false),
    }
}

pub(crate) fn lane_of_effect(effect: &Effect) -> Option<LaneKey> {
    lane_of(effect.name, &effect.merchant, effect.target.as_ref(), &effect.subject)
}

pub(crate) fn lane_of_intent(intent: &Intent) -> Option<LaneKey> {
    lane_of(&intent.effect, &intent.merchant, intent.target.as_ref(), &intent.subject)
}

/// Returns true if an effect starts only while no list of its merchant is being read.
pub(crate) fn is_exclusive(effect: &Effect) -> bool {
    effect_row(effect.name).is_some_and(|row| row.isolation == Isolation::Exclusive)
}
