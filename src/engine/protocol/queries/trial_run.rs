//! Data for a trial run of a script: the event, and the known state. A trial run changes nothing.

use serde::{Deserialize, Serialize};

use crate::base::id::Key;

/// The requested data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialRunQuery {
    /// An event as scripts see it, by its id.
    Event(String),
    /// The known state of a transaction of the service.
    Transaction { merchant: Key, id: String },
    /// A value that a script keeps.
    Kept { script: String, key: String },
}
