//! Lanes: effects in one lane never run concurrently (see [`Lane`]). Of a merchant's effects
//! without a mark only one is open at a time, so that a lost answer can be attributed. An object
//! has at most one change under way. Of effects that do the same, such as the upload of one file,
//! the second waits for the first. Then it has nothing left to do.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tokio::sync::oneshot;

use super::Engine;
use super::act::Asked;
use super::question::Reply;
use super::unable::Unable;
use crate::base::id::{Key, RemoteId};
use crate::effects::{Lane, effect_row};
use crate::model::effect::Effect;
use crate::model::intent::Intent;

/// The effects under way by lane, and the waiting resources.
#[derive(Debug, Default)]
pub(super) struct Lone {
    working: BTreeMap<Key, Track>,
    waiting: BTreeSet<Key>,
    acts: Vec<(Asked, oneshot::Sender<Reply>)>,
}

impl Lone {
    /// Requests an action again once an effect has ended.
    pub(super) fn act_later(&mut self, asked: Asked, reply: oneshot::Sender<Reply>) {
        self.acts.push((asked, reply));
    }

    /// Drops the waiting actions at the end of the process: their clients get no answer, and ask
    /// again in the next process.
    pub(super) fn let_go(&mut self) {
        self.acts.clear();
    }
}

/// A lane of one merchant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Track {
    merchant: Key,
    name: String,
    /// True if an unsettled effect blocks the lane, too.
    strict: bool,
}

/// The reason why an effect cannot start now.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Behind {
    /// Another one is under way and will end.
    Working,
    /// Another one is unsettled: the effect of this resource.
    Unsettled(String),
}

/// Returns the lane of an effect from its row; `None` for an effect without a lane.
fn track(name: &str, merchant: &Key, target: Option<&RemoteId>, about: &Value) -> Option<Track> {
    let of = |name: String, strict| Some(Track { merchant: merchant.clone(), name, strict });
    match effect_row(name)?.lane {
        Lane::Own | Lane::Last => None,
        Lane::Merchant => of(name.to_owned(), true),
        Lane::Target => of(format!("on {}", target?), true),
        Lane::About => of(format!("{name} {about}"), true),
        Lane::Twin => of(format!("{name} {about}"), false),
    }
}

fn of_effect(effect: &Effect) -> Option<Track> {
    track(effect.name, &effect.merchant, effect.target.as_ref(), &effect.about)
}

fn of_intent(intent: &Intent) -> Option<Track> {
    track(&intent.effect, &intent.merchant, intent.target.as_ref(), &intent.about)
}

impl Engine {
    /// Notes that an intent of an earlier process is under way.
    pub(super) fn alone(&mut self, intent: &Intent) {
        if let Some(track) = of_intent(intent) {
            self.lone.working.insert(intent.key.clone(), track);
        }
    }

    /// Takes the lane of an effect for a resource.
    ///
    /// # Errors
    /// The lane is taken.
    pub(super) fn take_lane(&mut self, key: &Key, effect: &Effect) -> Result<(), Behind> {
        let is_last = effect_row(effect.name).is_some_and(|row| row.lane == Lane::Last);
        if is_last && self.is_looked_at(&effect.merchant) {
            return Err(Behind::Working);
        }
        let Some(track) = of_effect(effect) else { return Ok(()) };
        if self
            .lone
            .working
            .values()
            .any(|one| one.name == track.name && one.merchant == track.merchant)
        {
            return Err(Behind::Working);
        }
        if let Some(held) = track.strict.then(|| self.unsettled(key, &track)).flatten() {
            return Err(Behind::Unsettled(held));
        }
        self.lone.working.insert(key.clone(), track);
        Ok(())
    }

    /// Returns true if an effect may start now. An effect behind one under way waits for it. An
    /// effect behind one that a person has to settle also waits, and is reported; it is tried again
    /// once any effect in a lane has ended.
    pub(super) fn may_start(&mut self, key: &Key, effect: &Effect) -> bool {
        match self.take_lane(key, effect) {
            Ok(()) => true,
            Err(Behind::Working) => {
                self.busy.remove(key);
                self.backoff.clear(key);
                self.lone.waiting.insert(key.clone());
                false
            }
            Err(Behind::Unsettled(held)) => {
                let why =
                    format!("{held} is not settled: nothing may tell the two apart (intents)");
                self.busy.remove(key);
                self.backoff.clear(key);
                self.lone.waiting.insert(key.clone());
                self.unable.insert(key.clone(), Unable::Blocked(why));
                false
            }
        }
    }

    /// Returns the resource of another unsettled effect in this lane.
    fn unsettled(&self, key: &Key, track: &Track) -> Option<String> {
        let mut open = self.world.open_intents().map(|open| &open.intent);
        let same = open.find(|one| {
            one.key != *key
                && one.merchant == track.merchant
                && of_intent(one).is_some_and(|other| other.name == track.name)
        });
        same.map(|one| one.key.short())
    }

    /// Queues the resources that waited for a lane.
    pub(super) fn let_waiting_go(&mut self) {
        let waiting = std::mem::take(&mut self.lone.waiting);
        self.enqueue(waiting);
    }

    /// Frees the lane of this resource, and queues those that waited for it.
    pub(super) fn let_others_go(&mut self, key: &Key) {
        if self.lone.working.remove(key).is_some() {
            self.let_waiting_go();
        }
        for (asked, reply) in std::mem::take(&mut self.lone.acts) {
            self.act(asked, reply);
        }
    }
}
