//! A compaction of the journal.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::hash::Digest;

/// The record behind a snapshot: from here on the chain rests on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compacted {
    /// The last record that the snapshot stands for.
    pub sequence: u64,
    /// That record's hash, which the snapshot replaces.
    pub replaces: Digest,
    /// The snapshot's own hash.
    pub snapshot: Digest,
    /// Whether the records were dropped and not put aside.
    pub dropped: bool,
    /// When.
    pub at: DateTime<Utc>,
    /// Who.
    pub actor: String,
}
