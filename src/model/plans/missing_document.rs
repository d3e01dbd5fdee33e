//! Records about a missing document: the time when it was first missed, and a person's permission
//! for the removal. A document that returns clears both.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::id::Key;

/// Known facts about the absence of a resource's document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingDocument {
    /// When the document was first missed. A live resource is removed only some time after this
    /// mark.
    pub marked: Option<MarkedForPrune>,
    /// A person's permission for the removal, past any guard.
    pub allowed: Option<PruneAllowed>,
}

/// Mark of a missing document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkedForPrune {
    pub at: DateTime<Utc>,
    /// The git commit of the tree in which the document was missing.
    pub commit: Option<String>,
}

/// A person's permission for a removal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PruneAllowed {
    pub at: DateTime<Utc>,
    pub actor: String,
    /// The permission names this very resource: then even a live resource is removed without delay.
    pub at_once: bool,
}

/// The body of a record about absence: one resource, and its change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingDocumentRecord {
    pub key: Key,
    #[serde(rename = "said")]
    pub change: MissingDocumentChange,
}

/// A change of a document's absence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingDocumentChange {
    /// The document is missing.
    Marked(MarkedForPrune),
    /// The removal is permitted; of a new document: it is a different one.
    Allowed(PruneAllowed),
    /// The document is back.
    #[serde(rename = "back")]
    Returned { at: DateTime<Utc> },
}

/// The body of a record about a rename: the new name inherits the known facts of the old one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedRecord {
    pub from: Key,
    pub to: Key,
    pub at: DateTime<Utc>,
    /// The git commit of the tree that contains the rename.
    pub commit: Option<String>,
}
