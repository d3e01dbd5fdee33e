//! The gateway's events, from the post that somebody made to us to what the service itself says of them.
//!
//! A post proves nothing but that someone knows the address (gateway-api, Webhook rules, 2): only the id is taken from
//! it, and the event of that id is read from the service.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::hash::Digest;
use crate::base::id::{Key, Mode};
use crate::model::ran::Fates;
use crate::model::remote_object::{RemoteObject, Standing};

/// One request that came to a merchant's address, on disk before it was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Posted {
    /// The merchant that the address is of.
    pub merchant: Key,
    /// The mode that the address is of.
    pub mode: Mode,
    /// What it is.
    pub what: PostedWhat,
    /// The sealed body, digits of cards masked: itself, or the vault's name of it.
    pub body: String,
    /// When it came.
    pub at: DateTime<Utc>,
}

/// What was posted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PostedWhat {
    /// Something with the id of an event of the merchant's mode.
    Event(String),
    /// The same at the address of the other mode, whose events are not ours to read.
    OtherMode(String),
    /// Nothing that could be an event; a keyed digest of it.
    Garbled(Digest),
}

/// How an event was read from the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// In the list of events.
    Poll,
    /// By its id, after a post named it.
    ReadBack,
    /// It was posted, and carries the mark of an application that we submitted: the partner's events are not listed.
    Post,
}

/// One event, as the service itself shows it to the merchant's own key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// The merchant.
    pub merchant: Key,
    /// The id of the event.
    pub event: String,
    /// Its type, such as `transaction.authorized`.
    pub kind: String,
    /// When it happened, by the service's clock.
    pub created: DateTime<Utc>,
    /// How it was read.
    pub via: Via,
    /// The vault's name of the sealed event.
    pub body: String,
    /// The object that it shows, if it shows one.
    pub object: Option<RemoteObject>,
    /// How that stands to what was known.
    pub standing: Standing,
    /// What was known of it before, where that was something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<RemoteObject>,
    /// The resources of ours that it is about.
    pub about: Vec<Key>,
    /// A person had old events read again, and said that no hook runs for those that are new.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quiet: bool,
    /// When it was read.
    pub at: DateTime<Utc>,
}

/// A post whose event the service does not have: somebody else made it up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forged {
    /// The merchant.
    pub merchant: Key,
    /// The id that was posted.
    pub event: String,
    /// When it was looked up.
    pub at: DateTime<Utc>,
}

/// Every event of a merchant up to this moment is in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Polled {
    /// The merchant.
    pub merchant: Key,
    /// Up to here, by the service's clock.
    pub to: DateTime<Utc>,
    /// Whether the list was read to its end.
    #[serde(default)]
    pub whole: bool,
    /// When the list was read.
    pub at: DateTime<Utc>,
}

/// What is known of one event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventEntry {
    /// How often a post of it was written down: once, but for those that came at the same time.
    pub posts: u32,
    /// When we first heard of it.
    pub first: DateTime<Utc>,
    /// The vault's name of what was posted first, where it does not stand in the journal; gone once the service itself
    /// showed the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub posted: Option<String>,
    /// Where it stands.
    pub stands: EventStands,
    /// The page of those that wait, while it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
}

/// Where an event stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventStands {
    /// It was posted, and waits to be read from the service.
    Waiting,
    /// It was posted at the address of the other mode alone.
    OtherMode,
    /// The service does not have it.
    Forged,
    /// The service shows it.
    Told(Box<Told>),
}

/// How a merchant's events stand as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EventLedger {
    /// Posts that were written down. One of an event that is known already is answered, and not written down.
    pub posts: u64,
    /// Those of them whose event came at the same time in another post.
    pub repeated: u64,
    /// Posts that could not be an event.
    pub garbled: u64,
    /// Events of the other mode.
    pub other_mode: u64,
    /// Posts whose event the service does not have.
    pub forged: u64,
    /// Events that were posted and wait to be read.
    pub waiting: u64,
    /// Events that the service showed us.
    pub told: u64,
    /// Those of them that retention dropped.
    pub dropped: u64,
    /// Posted ids without an event that retention dropped.
    pub forgeries_dropped: u64,
    /// Posts that named an event from before the horizon.
    pub lapsed: u64,
    /// Events up to here are dropped once they are settled: the service may show them again, and they are no news.
    pub horizon: Option<DateTime<Utc>>,
    /// Those of them that no post had named: they came by the list alone.
    pub missed: u64,
    /// Those of them that were older than what was known.
    pub stale: u64,
    /// The number of the last one whose hooks were run.
    pub ran_to: u64,
    /// Runs of hooks that ended well.
    pub runs: u64,
    /// Runs of hooks that failed.
    pub failures: u64,
    /// Runs of hooks that failed and are run again.
    pub retried: u64,
    /// Runs of hooks that failed for good and that no person has acknowledged.
    pub dead: u64,
    /// Actions that hooks asked for and that are not settled.
    pub pending: u64,
    /// What became of the actions that hooks asked for.
    pub actions: Fates,
    /// The time of the newest one, by the service's clock.
    pub newest: Option<DateTime<Utc>>,
    /// Every event up to here is known, by the service's clock.
    pub polled_to: Option<DateTime<Utc>>,
    /// When the list was last read, by ours.
    pub polled_at: Option<DateTime<Utc>>,
}

impl EventLedger {
    /// Events that are held: the service showed them, and retention did not drop them.
    pub fn held(&self) -> u64 {
        self.told.saturating_sub(self.dropped)
    }

    /// Adds the counts of another one; the newest event of both is the newest.
    pub fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.posts, other.posts),
            (&mut self.repeated, other.repeated),
            (&mut self.garbled, other.garbled),
            (&mut self.other_mode, other.other_mode),
            (&mut self.forged, other.forged),
            (&mut self.waiting, other.waiting),
            (&mut self.told, other.told),
            (&mut self.dropped, other.dropped),
            (&mut self.forgeries_dropped, other.forgeries_dropped),
            (&mut self.lapsed, other.lapsed),
            (&mut self.missed, other.missed),
            (&mut self.stale, other.stale),
            (&mut self.ran_to, other.ran_to),
            (&mut self.runs, other.runs),
            (&mut self.failures, other.failures),
            (&mut self.retried, other.retried),
            (&mut self.dead, other.dead),
            (&mut self.pending, other.pending),
            (&mut self.actions.done, other.actions.done),
            (&mut self.actions.refused, other.actions.refused),
            (&mut self.actions.invalid, other.actions.invalid),
            (&mut self.actions.unknown, other.actions.unknown),
        ];
        for (sum, more) in pairs {
            *sum = sum.saturating_add(more);
        }
        self.newest = self.newest.max(other.newest);
    }
}
