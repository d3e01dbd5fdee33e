//! An answer from another part of the process beside the engine, as JSON.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::journal_refs::Provenances;

/// The value. It may hold secrets, such as addresses that are given to the service, so `Debug`
/// shows nothing of it.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LocalReply(pub Value);

impl fmt::Debug for LocalReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Told(…)")
    }
}

/// An answer about the state on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StateReply {
    /// The release is recorded; false if no backup was restored.
    Released(bool),
    /// Positions in the journal for `why`.
    Trail(Provenances),
}
