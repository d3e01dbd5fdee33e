//! The gateway's events, from the posted webhook to the event that the service itself shows.
//!
//! A webhook proves only that its sender knows the address (gateway-api, Webhook rules, 2). Only
//! the id is taken from the webhook, and the event of that id is read from the service.
//!
//! A partner's webhook about an application is a hint, too, and is stored before its answer.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::hash::Digest;
use crate::base::id::{Key, Mode};
use crate::model::events::hook_run::ActionCounts;
use crate::model::remote_object::{Freshness, RemoteObject};
use crate::model::state::health::PaymentCounts;

/// One request to a merchant's webhook address, on disk before it was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReceivedWebhook {
    pub merchant: Key,
    pub mode: Mode,
    pub what: WebhookContent,
    /// The sealed body, digits of cards masked: the body itself, or the vault's name of it.
    pub body: String,
    pub at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebhookContent {
    /// The id of an event of the merchant's mode.
    Event(String),
    /// The id of an event at the address of the other mode, whose events are not ours to read.
    OtherMode(String),
    /// A body that cannot be an event; holds its keyed digest.
    #[serde(rename = "garbled")]
    Malformed(Digest),
}

/// The way in which an event was read from the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    Poll,
    /// By its id, after a webhook named it.
    ReadBack,
    /// From the webhook with the mark of our application: a partner's events are not listed.
    Post,
}

/// One verified event, as the service itself shows it to the merchant's own key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerifiedEvent {
    pub merchant: Key,
    pub event: String,
    pub kind: String,
    /// Creation of the event, by the service's clock.
    pub created: DateTime<Utc>,
    pub via: Via,
    /// The vault's name of the sealed event.
    pub body: String,
    pub object: Option<RemoteObject>,
    #[serde(rename = "standing")]
    pub freshness: Freshness,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<RemoteObject>,
    #[serde(rename = "about")]
    pub resources: Vec<Key>,
    /// A person had old events read again, and excluded the new ones from hooks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quiet: bool,
    pub at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgedWebhook {
    pub merchant: Key,
    pub event: String,
    pub at: DateTime<Utc>,
}

/// Record that every event of a merchant up to this moment is in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Polled {
    pub merchant: Key,
    /// The moment, by the service's clock.
    pub to: DateTime<Utc>,
    /// The list was read to its end.
    #[serde(default)]
    pub whole: bool,
    pub at: DateTime<Utc>,
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventEntry {
    /// Number of recorded webhooks of the event: one, unless several came at the same time.
    pub posts: u32,
    pub first: DateTime<Utc>,
    /// The vault's name of the first webhook's body, where the journal does not hold it; removed
    /// once the service itself showed the event.
    pub posted: Option<String>,
    #[serde(rename = "stands")]
    pub status: EventStatus,
    /// The page of waiting events that holds it, while it waits.
    pub page: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventStatus {
    /// A webhook named it, and it waits to be read from the service.
    Waiting,
    OtherMode,
    Forged,
    #[serde(rename = "told")]
    Verified(Box<VerifiedEvent>),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EventLedger {
    /// Recorded webhooks. A webhook of a known event is answered, and not recorded.
    pub posts: u64,
    /// Recorded webhooks whose event came at the same time in another one.
    pub repeated: u64,
    #[serde(rename = "garbled")]
    pub malformed: u64,
    pub other_mode: u64,
    pub forged: u64,
    pub waiting: u64,
    #[serde(rename = "told")]
    pub verified: u64,
    /// Events that the service showed and retention dropped.
    pub dropped: u64,
    /// Posted ids without an event that retention dropped.
    pub forgeries_dropped: u64,
    /// Webhooks that named an event from before the horizon.
    pub lapsed: u64,
    /// Settled events up to this moment are dropped, and never count as new again.
    pub horizon: Option<DateTime<Utc>>,
    /// Events that the service showed and no webhook had named: only the list contained them.
    pub missed: u64,
    /// Events that the service showed and that were older than the known version.
    pub stale: u64,
    pub ran_to: u64,
    pub runs: u64,
    pub failures: u64,
    pub retried: u64,
    /// Runs that a person requested and that are not made yet.
    #[serde(skip_serializing_if = "is_none_left")]
    pub requested: u64,
    /// Hook runs that failed for good and that no person has acknowledged.
    pub dead: u64,
    pub pending: u64,
    pub actions: ActionCounts,
    /// Tries of payments that events showed.
    pub payments: PaymentCounts,
    pub newest: Option<DateTime<Utc>>,
    /// Every event up to this moment is known, by the service's clock.
    pub polled_to: Option<DateTime<Utc>>,
    /// Time of the last reading of the list, by our clock.
    pub polled_at: Option<DateTime<Utc>>,
}

/// Entries of earlier versions have no such count.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none_left(count: &u64) -> bool {
    *count == 0
}

impl EventLedger {
    /// Returns the number of stored events: shown by the service and not dropped.
    pub fn stored_count(&self) -> u64 {
        self.verified.saturating_sub(self.dropped)
    }

    /// Adds the counts of another ledger; `newest` becomes the later of both. The horizon, the
    /// times of polls and `actions.skipped` stay.
    pub fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.posts, other.posts),
            (&mut self.repeated, other.repeated),
            (&mut self.malformed, other.malformed),
            (&mut self.other_mode, other.other_mode),
            (&mut self.forged, other.forged),
            (&mut self.waiting, other.waiting),
            (&mut self.verified, other.verified),
            (&mut self.dropped, other.dropped),
            (&mut self.forgeries_dropped, other.forgeries_dropped),
            (&mut self.lapsed, other.lapsed),
            (&mut self.missed, other.missed),
            (&mut self.stale, other.stale),
            (&mut self.ran_to, other.ran_to),
            (&mut self.runs, other.runs),
            (&mut self.failures, other.failures),
            (&mut self.retried, other.retried),
            (&mut self.requested, other.requested),
            (&mut self.dead, other.dead),
            (&mut self.pending, other.pending),
            (&mut self.actions.done, other.actions.done),
            (&mut self.actions.refused, other.actions.refused),
            (&mut self.actions.invalid, other.actions.invalid),
            (&mut self.actions.unknown, other.actions.unknown),
            (&mut self.payments.paid, other.payments.paid),
            (&mut self.payments.declined, other.payments.declined),
            (&mut self.payments.returned, other.payments.returned),
            (&mut self.payments.voided, other.payments.voided),
        ];
        for (sum, more) in pairs {
            *sum = sum.saturating_add(more);
        }
        self.newest = self.newest.max(other.newest);
    }
}

/// One stored webhook. It is a hint: anyone can post one (partner-api, Events).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartnerWebhook {
    /// A keyed digest of its address and content: an equal one is the same webhook again.
    pub id: Digest,
    pub at: DateTime<Utc>,
    pub reference: String,
    pub body: String,
    /// The resource whose mark is the reference; `None`: no resource of ours has this mark.
    pub matched: Option<Key>,
    /// The reason for which it is ignored, in a sentence: anyone can post one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignored: Option<String>,
}
