//! Request to read merchants' lists of events again, and its answer.

use chrono::DateTime;
use chrono::Utc;
use serde::Deserialize;
use serde::Serialize;

use crate::base::id::Key;

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResyncedEvents {
    pub merchant: String,
    /// Events that the service listed.
    pub read: u64,
    /// Events among them that were not known.
    pub new: u64,
    /// The time of the oldest one.
    pub oldest: Option<String>,
    /// Events up to this time were dropped once they were settled: none of them is new, whatever
    /// the list contains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizon: Option<String>,
    /// The reason why there is no list yet, such as a merchant that is not connected.
    pub waits: Option<String>,
    /// The reason why the list was not read to its end.
    pub trouble: Option<String>,
}
