//! The events for which a script is run again at a person's request, and the names of the actions
//! that such runs request.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::id::Key;
use crate::model::events::hook::ActionRequest;

/// Largest number of events of one request.
pub const REPLAYS_MAX: usize = 5_000;

/// A selection of events for one script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplaySelection {
    pub script: String,
    /// The types of events that the script handles, each with its function.
    pub handlers: BTreeMap<String, String>,
    /// Only events of this merchant.
    pub merchant: Option<Key>,
    /// Earliest time of the events, by the service's clock.
    pub since: DateTime<Utc>,
    /// Latest time of the events, by the service's clock.
    pub until: Option<DateTime<Utc>>,
    /// Largest number of events, at most [`REPLAYS_MAX`]: the oldest ones are taken.
    pub limit: usize,
}

impl ReplaySelection {
    pub fn permits_time(&self, at: DateTime<Utc>) -> bool {
        at >= self.since && self.until.is_none_or(|until| at <= until)
    }
}

/// The selected events, oldest first, and the counts of those that are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayCandidates {
    pub events: Vec<ReplayCandidate>,
    /// Events of the selection that can be run again, also those beyond its limit.
    pub found: usize,
    /// Events that the script has yet to handle: it does so without a request.
    pub waiting: usize,
    /// Events whose run a person has requested already.
    pub requested: usize,
    /// Events whose data was erased with their merchant.
    pub erased: usize,
    /// The time of the first event beyond the limit.
    pub next: Option<DateTime<Utc>>,
    /// True if the search ended before the beginning of the period.
    pub is_cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayCandidate {
    pub merchant: Key,
    pub event: String,
    pub number: u64,
    pub created: DateTime<Utc>,
    pub function: String,
    /// The script's run for this event failed, and did not succeed since.
    pub failed: bool,
}

/// An action that a trial run for an event requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialRequest {
    pub merchant: Key,
    pub event: String,
    pub request: ActionRequest,
}

/// The consequence of an action request, by the name of the action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestedName {
    /// The action is done.
    New,
    /// The same action was requested before: the request is dropped.
    Repeated,
    /// Another action has this name: the request is refused.
    Taken,
}
