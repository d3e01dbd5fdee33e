//! Runs of a script that a person requested again, for events of a period.
//!
//! A requested run keeps the names of its event's actions. An action that was requested before is
//! not requested again, whatever the outcome of the earlier run.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::hash::Digest;
use crate::base::id::Key;

/// Record that a person requested runs of one script for these events, in this order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayRequest {
    pub script: String,
    /// The text of the script, as in [`ScriptIdentity`](super::hook_run::ScriptIdentity); `None`:
    /// the state does not know the script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Digest>,
    pub runs: Vec<RequestedRun>,
    pub actor: String,
    pub at: DateTime<Utc>,
}

/// A requested run: an event, and the function of the script that handles it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestedRun {
    pub merchant: Key,
    pub event: String,
    /// The event's number at its merchant.
    pub number: u64,
    pub function: String,
}

/// The person who requested a run, and the time of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requester {
    pub actor: String,
    pub at: DateTime<Utc>,
}
