//! One event with everything that this state knows of it: its data, its verification, its posts, its
//! hook runs, and their actions with the outcome of each.
//!
//! It holds no secret and no personal value, and no words of actions, which are sealed.

#![expect(
    clippy::disallowed_types,
    reason = "what serde derives for a flattened field names floats"
)]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::engine::protocol::events::EventView;
use crate::engine::protocol::next_steps::NextStep;

/// The history is present in `events show`; a line of `events tail` is the event alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventDetail {
    #[serde(flatten)]
    pub event: EventView,
    /// The time of the answer.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub at: String,
    /// The record that the event shows, without secret and personal values; null if it was erased,
    /// or if the event is not verified.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<EventVerification>,
    /// Recorded posts, oldest first. Further posts of a known event are answered, and not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliveries: Vec<EventDelivery>,
    /// Every run of a script for this event, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<EventRun>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replays: Vec<EventReplay>,
    /// Sentences about what this state does not know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_known: Vec<String>,
    /// Commands that lead on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<NextStep>,
}

/// The reading by which the service itself showed the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventVerification {
    pub at: String,
    /// A person had old events read again, and excluded the new ones from hooks.
    pub without_hooks: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventDelivery {
    pub at: String,
    /// The journal's record.
    pub record: u64,
    /// It came to the address of the other mode.
    pub other_mode: bool,
}

/// One run of a script for the event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventRun {
    pub at: String,
    /// The journal's record.
    pub record: u64,
    pub script: String,
    pub function: String,
    pub outcome: EventRunOutcome,
    /// The number of this run, counted from 1 and from the last replay.
    pub tries: u32,
    /// The cause of the failure, with the place in the script.
    pub message: Option<String>,
    /// The time of the next run after a failure; null: it failed for good.
    pub again: Option<String>,
    /// The first lines of its log, cut, with card numbers masked.
    pub log: Vec<String>,
    /// Lines that are left out.
    pub log_omitted: usize,
    /// Its reads; null if they were not recorded, as of a failed run.
    pub reads: Option<Vec<EventRead>>,
    pub operations: Option<u64>,
    /// Keys of the values that it stored.
    pub stored: Vec<String>,
    pub actions: Vec<EventAction>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventRunOutcome {
    Done,
    Failed,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventRead {
    /// The function that was called, such as `transaction`.
    pub read: String,
    /// Its arguments as JSON, cut, with card numbers masked.
    pub arguments: String,
}

/// An action that a run requested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventAction {
    /// The action's name within the event.
    pub name: String,
    pub verb: String,
    /// Its ids, amounts and dates; its words are sealed.
    pub fields: Value,
    /// The earliest time that the script asked for.
    pub due: Option<String>,
    pub state: EventActionState,
    pub message: Option<String>,
    /// The time at which it was settled.
    pub settled: Option<String>,
    /// Its name for `why`: `Action/NAME`.
    pub key: Option<String>,
    pub effects: Vec<EventActionEffect>,
    /// The starts of its delivery, and the failures that reached no recipient, oldest first.
    pub attempts: Vec<EventDeliveryAttempt>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventActionState {
    /// It is not settled yet.
    Open,
    Done,
    Refused,
    Invalid,
    /// Its effect is not known, and it is not done a second time.
    Unknown,
    /// `at_most` of the script allowed no more.
    Skipped,
    /// This state has no record of its outcome.
    NotKnown,
}

/// The effect of an action on the service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventActionEffect {
    pub intent: String,
    pub effect: String,
    /// The newest state of the intent, such as `done` or `doubt`.
    pub state: String,
    pub at: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventDeliveryAttempt {
    pub at: String,
    /// The delivery started; false: it reached no recipient.
    pub started: bool,
}

/// A person requested another run of hooks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventReplay {
    pub at: String,
    pub actor: String,
    /// The only script that runs again, whatever the outcome of its run; null: each that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
}
