//! Lanes: effects in one lane never run concurrently (see [`Isolation`]). Of a merchant's effects
//! without a mark only one is open at a time, so that a lost answer can be attributed. An object
//! has at most one change under way. Of effects that do the same, such as the upload of one file,
//! the second waits for the first. Then it has nothing left to do.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tokio::sync::oneshot;

use crate::base::id::{Key, RemoteId};
use crate::effects::core::row::Isolation;
use crate::effects::register::effect_row;
use crate::engine::commands::action::ActionCommand;
use crate::engine::core::coordinator::Engine;
use crate::engine::executor::failure::TaskFailure;
use crate::engine::queries::protocol::Reply;
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;

/// The effects under way by lane, and the waiting resources.
#[derive(Debug, Default)]
pub(crate) struct LaneTable {
    working: BTreeMap<Key, LaneKey>,
    waiting: BTreeSet<Key>,
    acts: Vec<(ActionCommand, oneshot::Sender<Reply>)>,
}

impl LaneTable {
    /// Requests an action again once an effect has ended.
    pub(crate) fn defer_action(&mut self, asked: ActionCommand, reply: oneshot::Sender<Reply>) {
        self.acts.push((asked, reply));
    }

    /// Drops the waiting actions at the end of the process: their clients get no answer, and ask
    /// again in the next process.
    pub(crate) fn drop_deferred(&mut self) {
        self.acts.clear();
    }
}

/// A lane of one merchant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LaneKey {
    merchant: Key,
    name: String,
    /// True if an unsettled effect blocks the lane, too.
    strict: bool,
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
fn lane_of(
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

fn lane_of_effect(effect: &Effect) -> Option<LaneKey> {
    lane_of(effect.name, &effect.merchant, effect.target.as_ref(), &effect.subject)
}

fn lane_of_intent(intent: &Intent) -> Option<LaneKey> {
    lane_of(&intent.effect, &intent.merchant, intent.target.as_ref(), &intent.subject)
}

impl Engine {
    /// Notes that an intent of an earlier process is under way.
    pub(crate) fn occupy_lane(&mut self, intent: &Intent) {
        if let Some(track) = lane_of_intent(intent) {
            self.lanes.working.insert(intent.key.clone(), track);
        }
    }

    /// Takes the lane of an effect for a resource.
    ///
    /// # Errors
    /// The lane is taken.
    pub(crate) fn take_lane(&mut self, key: &Key, effect: &Effect) -> Result<(), LaneBlocked> {
        let is_last =
            effect_row(effect.name).is_some_and(|row| row.isolation == Isolation::Exclusive);
        if is_last && self.is_being_read(&effect.merchant) {
            return Err(LaneBlocked::Running);
        }
        let Some(track) = lane_of_effect(effect) else { return Ok(()) };
        if self
            .lanes
            .working
            .values()
            .any(|one| one.name == track.name && one.merchant == track.merchant)
        {
            return Err(LaneBlocked::Running);
        }
        if let Some(held) = track.strict.then(|| self.unsettled_in_lane(key, &track)).flatten() {
            return Err(LaneBlocked::Unsettled(held));
        }
        self.lanes.working.insert(key.clone(), track);
        Ok(())
    }

    /// Returns true if an effect may start now. An effect behind one under way waits for it. An
    /// effect behind one that a person has to settle also waits, and is reported; it is tried again
    /// once any effect in a lane has ended.
    pub(crate) fn enter_lane(&mut self, key: &Key, effect: &Effect) -> bool {
        match self.take_lane(key, effect) {
            Ok(()) => true,
            Err(LaneBlocked::Running) => {
                self.busy.remove(key);
                self.backoff.clear(key);
                self.lanes.waiting.insert(key.clone());
                false
            }
            Err(LaneBlocked::Unsettled(held)) => {
                let why = format!(
                    "{held} is not settled, and its effect could not be distinguished \
                        from this one; see `reckon intents`"
                );
                self.busy.remove(key);
                self.backoff.clear(key);
                self.lanes.waiting.insert(key.clone());
                self.failures.insert(key.clone(), TaskFailure::Blocked(why));
                false
            }
        }
    }

    /// Returns the resource of another unsettled effect in this lane.
    fn unsettled_in_lane(&self, key: &Key, track: &LaneKey) -> Option<String> {
        let mut open = self.known_state.open_intents().map(|open| &open.intent);
        let same = open.find(|one| {
            one.key != *key
                && one.merchant == track.merchant
                && lane_of_intent(one).is_some_and(|other| other.name == track.name)
        });
        same.map(|one| one.key.short())
    }

    /// Queues the resources that waited for a lane.
    pub(crate) fn requeue_waiting(&mut self) {
        let waiting = std::mem::take(&mut self.lanes.waiting);
        self.enqueue(waiting);
    }

    /// Frees the lane of this resource, and queues those that waited for it.
    pub(crate) fn leave_lane(&mut self, key: &Key) {
        if self.lanes.working.remove(key).is_some() {
            self.requeue_waiting();
        }
        for (asked, reply) in std::mem::take(&mut self.lanes.acts) {
            self.act(asked, reply);
        }
    }
}
