//! The gateway's events, the state of their receiver, and the request to read their lists again. Names
//! and addresses of payers stay sealed.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::Key;
use crate::engine::protocol::event_filter::{EventFilter, EventState};
use crate::model::events::event::{EventLedger, Via};
use crate::model::remote_object::{Freshness, RemoteObject};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventsWanted {
    pub merchant: Option<Key>,
    /// Largest number of events, the newest ones.
    pub most: usize,
    #[serde(default)]
    pub filter: EventFilter,
}

/// The state of an event's hooks, with the numbers of their actions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventHooks {
    pub state: EventState,
    /// Actions that are not settled.
    pub acting: usize,
    pub done: usize,
    /// Actions that ended without being done, acknowledged or not.
    pub not_done: usize,
    /// Scripts whose runs failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
}

/// Events, and the state of their receiver.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventsView {
    /// The time of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The number of events that were searched, if the search ended before the oldest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub searched: Option<usize>,
    pub receivers: Vec<ReceiverView>,
    /// A message if the receiver was absent for a while before this process began.
    pub away: Option<String>,
    /// The newest events, newest first.
    pub items: Vec<EventView>,
    /// Posts that wait to be looked up.
    pub waiting: Vec<EventView>,
    /// Posts whose event the service does not have: they are forged.
    pub forged: Vec<EventView>,
    /// Ignored partner webhooks, newest first.
    #[serde(default)]
    pub ignored: Vec<IgnoredView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IgnoredView {
    /// Time of arrival.
    pub at: String,
    pub reference: String,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiverView {
    pub merchant: String,
    /// Seconds since the newest event, by the service's clock and ours.
    pub age_seconds: Option<i64>,
    /// Seconds since the list was last read.
    pub lag_seconds: Option<i64>,
    pub ledger: EventLedger,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventView {
    pub merchant: String,
    pub id: String,
    /// Its type, once the service showed it.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The time of the event, by the service's clock.
    pub created: Option<String>,
    /// `told`, `waiting`, `forged` or `other_mode`.
    #[serde(rename = "stands")]
    pub status: String,
    /// Freshness compared with the object's version known before.
    #[serde(rename = "standing")]
    pub freshness: Option<Freshness>,
    pub via: Option<Via>,
    pub posts: u32,
    pub first: String,
    /// The resources that it concerns.
    pub about: Vec<String>,
    pub object: Option<RemoteObject>,
    /// The state of its hooks, once it is verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<EventHooks>,
}

/// The lists to read, and from which time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResyncEvents {
    /// The merchant of the list; `None`: all merchants.
    pub merchant: Option<Key>,
    /// Earliest time of events, by the service's clock.
    pub since: DateTime<Utc>,
    /// New events are only recorded: no hook runs for them.
    pub without_hooks: bool,
}

/// The content of one merchant's list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResyncedEvents {
    pub merchant: String,
    /// Events that the service listed.
    pub read: u64,
    /// Events among them that were not known.
    pub new: u64,
    pub oldest: Option<String>,
    /// Events up to this time were dropped once settled: none of them counts as new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizon: Option<String>,
    /// The reason why there is no list yet, such as a merchant that is not connected.
    pub waits: Option<String>,
    /// The reason why the list was not read to its end.
    pub trouble: Option<String>,
}
