//! Lanes: effects in one lane never run concurrently (see [`Isolation`]).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tokio::sync::oneshot;

use crate::base::id::{Key, RemoteId};
use crate::effects::core::row::Isolation;
use crate::effects::register::effect_row;
use crate::engine::protocol::commands::action::ActionCommand;
use crate::engine::protocol::query::Reply;
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;

/// An action that waits for a lane, and the channel of its answer.
pub(crate) type DeferredAction = (ActionCommand, oneshot::Sender<Reply>);

/// The effects under way by lane, and the waiting resources.
#[derive(Debug, Default)]
pub(crate) struct LaneTable {
    pub(crate) working: BTreeMap<Key, LaneKey>,
    pub(crate) waiting: BTreeSet<Key>,
    pub(crate) acts: Vec<DeferredAction>,
}

impl LaneTable {
    /// Requests an action again once an effect has ended.
    pub(crate) fn defer_action(&mut self, asked: ActionCommand, reply: oneshot::Sender<Reply>) {
        self.acts.push((asked, reply));
    }

    /// Takes the waiting actions, to request them again.
    pub(crate) fn take_deferred(&mut self) -> Vec<DeferredAction> {
        std::mem::take(&mut self.acts)
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
