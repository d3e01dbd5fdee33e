//! Retention: settled events are dropped once they are old enough.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key};

/// Time for which the service may still answer to a hook's effect: refunds are possible for six
/// months.
pub const ACTION_RETENTION: TimeDelta = TimeDelta::days(183);

/// Record that settled events of a merchant are dropped, as far as they are not newer than the
/// horizon.
///
/// The fold decides for each one; the record only names the candidates. If the service later shows
/// such an event again, it does not count as new.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventsDropped {
    pub merchant: Key,
    /// No event after this moment is dropped. The horizon never goes back.
    pub horizon: DateTime<Utc>,
    /// The numbers of the events: after the first one, and up to the last one.
    pub events: (u64, u64),
    /// Posted ids that the service does not have, or that belong to the other mode.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forged: Vec<String>,
    /// Bodies that could not be an event.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "garbled")]
    pub malformed: Vec<Digest>,
    /// Intents of hooks' actions, each with its action: those older than [`ACTION_RETENTION`] are
    /// dropped entirely.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<(IntentId, Key)>,
    pub at: DateTime<Utc>,
}

/// Record that a webhook names an event from before the horizon: it stops waiting, and does not
/// count as new.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lapsed {
    pub merchant: Key,
    pub event: String,
    /// Time of the lookup.
    pub at: DateTime<Utc>,
}
