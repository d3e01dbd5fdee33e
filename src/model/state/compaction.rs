//! Record of a journal compaction.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::hash::Digest;

/// The record behind a snapshot: from here on the chain continues from the snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compacted {
    /// The last record that the snapshot covers.
    pub sequence: u64,
    /// Hash of that record, which the snapshot replaces.
    pub replaces: Digest,
    pub snapshot: Digest,
    /// The records were dropped, not archived.
    pub dropped: bool,
    pub at: DateTime<Utc>,
    pub actor: String,
}
