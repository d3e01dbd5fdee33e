//! Positions of records in the journal: the first step of `why`.

use serde::{Deserialize, Serialize};

use crate::base::id::{IntentId, Key};
use crate::store::journal::chain::Head;

/// The subject of a question for a reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhySubject {
    Resource(Key),
    /// An intent, settled or not.
    Intent(IntentId),
    /// Any other word that a command prints: an id of the service, a mark, an event, an approval, a
    /// plan.
    Remote(String),
}

/// The positions of a subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenances {
    /// The resources of the subject; empty if the journal does not know it.
    pub resources: Vec<RecordRefs>,
    /// The meaning of the word, in sentences, if it is no resource itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<String>,
    /// The last record.
    pub head: Head,
}

/// The records about one resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordRefs {
    pub key: Key,
    /// The sequences of all records about it, rising.
    pub sequences: Vec<u64>,
}
