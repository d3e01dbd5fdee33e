//! Journal records of hook runs, and of the outcome of their action requests.
//!
//! The name of a hook's action consists of the event and the script's name for the action, and of
//! nothing else. A renamed or repeated script requests the same action (design.md, Hooks).

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::hash::Digest;
use crate::base::id::{Key, Name, NameError};
use crate::model::effect::Action;
use crate::model::events::hook::{
    ActionRequest, HookRun, NOTIFY, RECONCILE, RESUME, SUSPEND, name_digest,
};
use crate::model::events::replay::Requester;

/// Maximum length of a chain of causes: event, action, the event of that, and so on.
pub const DEPTH_MAX: u32 = 4;
/// Maximum runs of a failing hook before it is left to a person.
pub const TRIES_MAX: u32 = 5;
/// Failed runs of a script for a merchant from which that merchant's further events wait.
pub const FAILED_MAX: u64 = 500;

/// Record of the hook runs of one event, with all their action requests.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HookRunRecord {
    pub merchant: Key,
    pub event: String,
    pub number: u64,
    /// The event failed before, and only the failed scripts were run again.
    #[serde(default, rename = "again")]
    pub is_retry: bool,
    /// `None` in records from when the scripts of an event were run together.
    #[serde(rename = "lane")]
    pub script_identity: Option<ScriptIdentity>,
    #[serde(rename = "formerly")]
    pub former_script: Option<String>,
    pub runs: Vec<HookRun>,
    pub failures: Vec<HookFailure>,
    /// Number of hooks before it in its chain of causes.
    pub depth: u32,
    pub at: DateTime<Utc>,
}

/// One script's sequence of a merchant's events: one after the other, independent of other scripts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptIdentity {
    pub script: String,
    /// SHA-256 of the text without its name: a renamed script continues at the same event.
    pub text: Digest,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    pub to: u64,
    /// The text of the script at that time, as in [`ScriptIdentity`].
    pub text: Digest,
}

/// A failed hook run; it requested no action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookFailure {
    pub script: String,
    pub function: String,
    pub message: String,
    pub tries: u32,
    /// Time of the next run; `None`: a person has to act (`events failed`).
    #[serde(rename = "again")]
    pub retry_at: Option<DateTime<Utc>>,
    /// The text of the script, as in [`ScriptIdentity`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Digest>,
    /// The first lines that the script logged before it failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<String>,
}

/// Record that every hook of the events up to this one was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CursorAdvanced {
    pub merchant: Key,
    pub to: u64,
    /// The one script that advanced, where others are ahead of it; `None`: all advanced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// Scripts that did not advance, because too many of their runs failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty", rename = "held")]
    pub held_back: Vec<ScriptIdentity>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ActionRequestId {
    pub merchant: Key,
    pub event: String,
    pub name: Name,
}

impl ActionRequestId {
    /// Returns the name of the action in the journal.
    ///
    /// # Errors
    /// Only after an internal error.
    pub fn action_name(&self) -> Result<Name, NameError> {
        let Self { merchant, event, name } = self;
        let text = format!("{merchant}\0{event}\0{name}");
        format!("hook-{}", name_digest(text.as_bytes(), 26)).parse()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PendingAction {
    pub id: ActionRequestId,
    #[serde(rename = "wish")]
    pub request: ActionRequest,
    pub script: String,
    /// A lost state may have done the action, and no proof exists.
    #[serde(default, rename = "unsure")]
    pub maybe_done: bool,
    pub at: DateTime<Utc>,
}

impl PendingAction {
    /// Returns the action's key; without a merchant, the key at the event's merchant.
    ///
    /// # Errors
    /// Only after an internal error.
    pub fn action(&self) -> Result<Key, NameError> {
        let merchant = self.request.merchant.as_ref().unwrap_or(&self.id.merchant);
        Ok(Action::key(merchant, &self.id.action_name()?))
    }
}

/// The outgoing channel of an action, with slots of its own: a slow one delays no other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// No outgoing call: the action changes local state.
    Internal,
    Service,
    Target(String),
}

impl Channel {
    pub fn of(wish: &ActionRequest) -> Self {
        match wish.verb.as_str() {
            SUSPEND | RESUME | RECONCILE => Self::Internal,
            NOTIFY => {
                let target = wish.fields.get("target").and_then(Value::as_str);
                Self::Target(target.unwrap_or_default().to_owned())
            }
            _ => Self::Service,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Scheduled {
    pub at: DateTime<Utc>,
    pub id: ActionRequestId,
    pub channel: Channel,
}

impl Scheduled {
    /// Returns the position of a pending action: the script's time, and at once by default.
    pub fn of(pending: &PendingAction) -> Self {
        let at = pending.request.at.map_or(pending.at, |at| at.max(pending.at));
        Self { at, id: pending.id.clone(), channel: Channel::of(&pending.request) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionResult {
    pub id: ActionRequestId,
    #[serde(rename = "fate")]
    pub outcome: ActionOutcome,
    pub message: String,
    pub at: DateTime<Utc>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActionOutcome {
    Done,
    Refused,
    Invalid,
    /// Its effect is not known, and it is not done a second time.
    Unknown,
    /// It was not sent: `at_most` of the script allows no more of them.
    Skipped,
}

/// A failed action of a hook: it ended and, as far as is known, was not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedAction {
    #[serde(rename = "granted")]
    pub result: ActionResult,
    pub verb: String,
    pub script: String,
}

/// Record that a person acknowledged the outcomes of an event's hooks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HooksAcknowledged {
    pub event: String,
    pub actor: String,
    pub at: DateTime<Utc>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ActionCounts {
    pub done: u64,
    pub refused: u64,
    pub invalid: u64,
    pub unknown: u64,
    pub skipped: u64,
}

impl ActionCounts {
    pub fn count(&mut self, fate: ActionOutcome) {
        let number = match fate {
            ActionOutcome::Done => &mut self.done,
            ActionOutcome::Refused => &mut self.refused,
            ActionOutcome::Invalid => &mut self.invalid,
            ActionOutcome::Unknown => &mut self.unknown,
            ActionOutcome::Skipped => &mut self.skipped,
        };
        *number = number.saturating_add(1);
    }

    /// Returns the number of actions that were not done, as far as is known.
    pub fn failed(&self) -> u64 {
        self.refused.saturating_add(self.invalid).saturating_add(self.unknown)
    }
}

/// Record that the delivery of a notification starts, or failed for certain. A notification that a
/// process started and did not finish may have arrived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotificationAttempt {
    pub id: ActionRequestId,
    /// The delivery is in progress; false: it provably reached no recipient.
    #[serde(rename = "under_way")]
    pub in_progress: bool,
    pub at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedHook {
    pub merchant: Key,
    pub event: String,
    pub failed: HookFailure,
    /// A lost state may have run it, too.
    #[serde(default, rename = "doubted")]
    pub maybe_ran: bool,
    /// The person who requested the run of a hook that had not failed. Such a run does not count
    /// towards [`FAILED_MAX`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requester: Option<Requester>,
}

impl FailedHook {
    /// Returns true if a person requested the run, and it was not run since.
    pub fn is_requested(&self) -> bool {
        self.requester.is_some() && self.failed.tries == 0 && self.failed.retry_at.is_some()
    }
}

/// Record that a person requested another run of an event's hooks that failed for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HooksReplayed {
    pub merchant: Key,
    pub event: String,
    pub actor: String,
    pub at: DateTime<Utc>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(event: &str, name: &str) -> ActionRequestId {
        let merchant = "Merchant/acme".parse().unwrap();
        ActionRequestId { merchant, event: event.to_owned(), name: name.parse().unwrap() }
    }

    #[test]
    fn an_action_is_named_by_its_event_and_its_own_name() {
        let name = |event, name| id(event, name).action_name().unwrap();
        assert_eq!(name("e1", "refund"), name("e1", "refund"));
        assert_ne!(name("e1", "refund"), name("e2", "refund"));
        assert_ne!(name("e1", "refund"), name("e1", "refund-2"));
    }

    /// S3: names in journals never change, byte for byte.
    #[test]
    fn the_name_of_an_action_never_changes() {
        assert_eq!(
            id("e1", "refund").action_name().unwrap().as_str(),
            "hook-64sf5utjnpqmmap5ldjrafoa4x"
        );
    }
}
