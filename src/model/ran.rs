//! What running the hooks of an event came to, and what became of what they asked for.
//!
//! An action of a hook is named by the event and by the name that the script gave it, and by nothing else: a script that
//! is renamed, or runs once more after a crash, asks for the same thing (design.md, Hooks).

use chrono::{DateTime, Utc};
use data_encoding::BASE32_NOPAD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::hash::{Digest, sha256};
use crate::base::id::{Key, Name, NameError};
use crate::model::action::Action;
use crate::model::hook::{NOTIFY, RECONCILE, RESUME, Run, SUSPEND, Wish};

/// How long a chain of causes may be: event, action, the event of that, and so on.
pub const DEPTH_MAX: u32 = 4;
/// A hook that failed is run so often before it is left to a person.
pub const TRIES_MAX: u32 = 5;
/// From so many failed runs of a script for one merchant on it takes no further events of that merchant: they wait.
pub const FAILED_MAX: u64 = 500;

/// The hooks of one event, run: all that they ask for, in one record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    /// Whose event.
    pub merchant: Key,
    /// The event.
    pub event: String,
    /// Its number among the merchant's events.
    pub number: u64,
    /// Whether it failed before, and only those scripts were run again.
    #[serde(default)]
    pub again: bool,
    /// Whose turn it was; none in records from when the scripts of an event were run together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<Lane>,
    /// What the script was called when it failed, where that was something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formerly: Option<String>,
    /// Those that ended well.
    pub runs: Vec<Run>,
    /// Those that did not.
    pub failures: Vec<Failed>,
    /// How many hooks stand before it in its chain of causes.
    pub depth: u32,
    /// When.
    pub at: DateTime<Utc>,
}

/// One script's way through the events of a merchant: one after the other, whatever other scripts do meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lane {
    /// The script.
    pub script: String,
    /// SHA-256 of what it does, its own name left out: a script that is renamed goes on where it was.
    pub text: Digest,
}

/// How far a script has come, while another one is behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// The number of the last event that it was run for.
    pub to: u64,
    /// What it did then, as of [`Lane`].
    pub text: Digest,
}

/// A hook that did not end well: it asked for nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// The script.
    pub script: String,
    /// Its function.
    pub function: String,
    /// What happened, with the place in the script.
    pub message: String,
    /// How often it was run so far.
    pub tries: u32,
    /// When it is run again; `None`: a person has to look (`events dead`).
    pub again: Option<DateTime<Utc>>,
    /// What the script did, as of [`Lane`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Digest>,
}

/// Every hook of the events up to this one was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passed {
    /// Whose events.
    pub merchant: Key,
    /// The number of the last one.
    pub to: u64,
    /// The one script that has come so far, where others are ahead of it; none: all have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// Scripts that keep their place, since too many of their runs failed. Where all scripts have come, they have not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<Lane>,
}

/// What an action of a hook is called, for ever.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct WishId {
    /// Whose event.
    pub merchant: Key,
    /// The event.
    pub event: String,
    /// The action's own name beneath it.
    pub name: Name,
}

impl WishId {
    /// The name of the action in the journal. Errors: never, but for a mistake of ours.
    pub fn action_name(&self) -> Result<Name, NameError> {
        let Self { merchant, event, name } = self;
        let text = format!("{merchant}\0{event}\0{name}");
        let digest = BASE32_NOPAD.encode(sha256(text.as_bytes()).as_bytes()).to_ascii_lowercase();
        let digest: String = digest.chars().take(26).collect();
        format!("hook-{digest}").parse()
    }
}

/// An action that a hook asked for and that is not settled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    /// What it is called.
    pub id: WishId,
    /// What is asked for.
    pub wish: Wish,
    /// The script that asked.
    pub script: String,
    /// Whether a state that is lost may have had it done, and nothing can tell.
    #[serde(default)]
    pub unsure: bool,
    /// When.
    pub at: DateTime<Utc>,
}

impl Pending {
    /// The action that does it; of one without a merchant, as it would be at that of the event. Errors: never, but for a
    /// mistake of ours.
    pub fn action(&self) -> Result<Key, NameError> {
        let merchant = self.wish.merchant.as_ref().unwrap_or(&self.id.merchant);
        Ok(Action::key(merchant, &self.id.action_name()?))
    }
}

/// The way out of the process that an action takes. Each has slots of its own: a slow one delays no other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// None: the action changes what is kept here.
    Internal,
    /// The payment service.
    Service,
    /// The target of `notify` with this name.
    Target(String),
}

impl Channel {
    /// The channel of an action.
    pub fn of(wish: &Wish) -> Self {
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

/// The place of an action in the order in which actions become due.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Scheduled {
    /// When it becomes due.
    pub at: DateTime<Utc>,
    /// The action.
    pub id: WishId,
    /// Its way out.
    pub channel: Channel,
}

impl Scheduled {
    /// The place of a pending action: the time that the script named, and at once by default.
    pub fn of(pending: &Pending) -> Self {
        let at = pending.wish.at.map_or(pending.at, |at| at.max(pending.at));
        Self { at, id: pending.id.clone(), channel: Channel::of(&pending.wish) }
    }
}

/// What became of an action of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granted {
    /// The action.
    pub id: WishId,
    /// What became of it.
    pub fate: Fate,
    /// In a sentence.
    pub message: String,
    /// When.
    pub at: DateTime<Utc>,
}

/// The ends that an action of a hook can come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It is done.
    Done,
    /// The service said no.
    Refused,
    /// It cannot be meant: no such verb, field or merchant.
    Invalid,
    /// Whether it happened is not known, and it is not done a second time.
    Unknown,
    /// It was not sent: `at_most` of the script allows no more of them.
    Skipped,
}

/// An action of a hook that ended and was not done, as far as is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undone {
    /// What became of it.
    pub granted: Granted,
    /// What was asked for.
    pub verb: String,
    /// The script that asked.
    pub script: String,
}

/// A person has seen what became of the hooks of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dismissed {
    /// The event.
    pub event: String,
    /// Who said so.
    pub actor: String,
    /// When.
    pub at: DateTime<Utc>,
}

/// How many actions of hooks came to which end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fates {
    /// Done.
    pub done: u64,
    /// The service said no.
    pub refused: u64,
    /// They could not be meant.
    pub invalid: u64,
    /// Nobody knows whether they happened.
    pub unknown: u64,
    /// `at_most` allowed no more of them.
    pub skipped: u64,
}

impl Fates {
    /// One more.
    pub fn count(&mut self, fate: Fate) {
        let number = match fate {
            Fate::Done => &mut self.done,
            Fate::Refused => &mut self.refused,
            Fate::Invalid => &mut self.invalid,
            Fate::Unknown => &mut self.unknown,
            Fate::Skipped => &mut self.skipped,
        };
        *number = number.saturating_add(1);
    }

    /// How many were not done, as far as is known.
    pub fn undone(&self) -> u64 {
        self.refused.saturating_add(self.invalid).saturating_add(self.unknown)
    }
}

/// A notification is being told, or was not after all. One that a process began and did not end may have arrived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Telling {
    /// The action that asks for it.
    pub id: WishId,
    /// Whether it is on its way; if not, provably nobody got it.
    pub under_way: bool,
    /// When.
    pub at: DateTime<Utc>,
}

/// A hook that waits to be run again, or for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedHook {
    /// Whose event.
    pub merchant: Key,
    /// The event.
    pub event: String,
    /// How it failed last.
    pub failed: Failed,
    /// Whether a state that is lost may have run it, too.
    #[serde(default)]
    pub doubted: bool,
}

/// A person wants the hooks of an event run again that failed for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replayed {
    /// Whose event.
    pub merchant: Key,
    /// The event.
    pub event: String,
    /// Who said so.
    pub actor: String,
    /// When.
    pub at: DateTime<Utc>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(event: &str, name: &str) -> WishId {
        let merchant = "Merchant/acme".parse().unwrap();
        WishId { merchant, event: event.to_owned(), name: name.parse().unwrap() }
    }

    #[test]
    fn an_action_is_named_by_its_event_and_its_own_name() {
        let name = |event, name| id(event, name).action_name().unwrap();
        assert_eq!(name("e1", "refund"), name("e1", "refund"));
        assert_ne!(name("e1", "refund"), name("e2", "refund"));
        assert_ne!(name("e1", "refund"), name("e1", "refund-2"));
    }

    /// S3: names that are in journals stay as they are, byte for byte.
    #[test]
    fn the_name_of_an_action_never_changes() {
        assert_eq!(
            id("e1", "refund").action_name().unwrap().as_str(),
            "hook-64sf5utjnpqmmap5ldjrafoa4x"
        );
    }
}
