//! The result of an action, as plain data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::id::Key;

/// Status of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionStatus {
    Done,
    /// The service, or the payer's bank, refused; nothing was done.
    Refused,
    /// A person has to settle it: `intents`.
    #[serde(rename = "held")]
    OnHold,
    /// Its answer was lost, and is being settled.
    InDoubt,
    /// No call was sent, and none will be.
    NotSent,
    /// It cannot be sent now; nothing was.
    Blocked,
    /// The request is invalid.
    Invalid,
}

/// The result of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionReport {
    /// Its key in the journal.
    pub key: Option<Key>,
    pub verb: String,
    #[serde(rename = "stands")]
    pub status: ActionStatus,
    /// True if it was done before: this time nothing was sent.
    pub before: bool,
    /// One sentence for people.
    pub message: String,
    /// The id of the object on the service, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remote_id: Option<String>,
    /// Known properties of the object; no sealed ones.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub facts: BTreeMap<String, Value>,
}
