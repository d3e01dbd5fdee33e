//! Retention: what is settled is dropped once it is old enough.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key};

/// For so long the service may still answer to what a hook had done: refunds are possible for six months.
pub const ACTIONS_KEPT: TimeDelta = TimeDelta::days(183);

/// Some events of a merchant are dropped, as far as they are settled and not newer than the horizon.
///
/// The fold decides for each one; the record only says where to look. From then on the service may show such an event
/// again, and it is no news.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retained {
    /// Whose events.
    pub merchant: Key,
    /// Nothing that happened after this moment is dropped. It never goes back.
    pub horizon: DateTime<Utc>,
    /// The numbers of the events: behind the first one, and up to the last one.
    pub events: (u64, u64),
    /// Posted ids that the service does not have, or that are of the other mode.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forged: Vec<String>,
    /// Bodies that could not be an event.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub garbled: Vec<Digest>,
    /// Intents of actions of hooks, each with its action: those older than [`ACTIONS_KEPT`] are dropped whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<(IntentId, Key)>,
    /// When.
    pub at: DateTime<Utc>,
}

/// A post names an event from before the horizon: it waits no longer, and is no news.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lapsed {
    /// Whose event.
    pub merchant: Key,
    /// Its id.
    pub event: String,
    /// When it was looked up.
    pub at: DateTime<Utc>,
}
