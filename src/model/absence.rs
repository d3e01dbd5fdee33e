//! What is written down about a document that is gone: when that was seen first, and a person's word that the
//! removal is meant. A document that comes back takes both away.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::id::Key;

/// What is known of the absence of a resource's document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absence {
    /// When it was seen and marked first: what is live goes only some time after it.
    pub marked: Option<Marked>,
    /// Who said that its removal is meant, past any guard.
    pub allowed: Option<Allowed>,
}

/// A mark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marked {
    /// When.
    pub at: DateTime<Utc>,
    /// The git commit of the tree in which the document was missing.
    pub commit: Option<String>,
}

/// A person's word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowed {
    /// When.
    pub at: DateTime<Utc>,
    /// Who.
    pub actor: String,
    /// Whether it was said of this very resource: then what is live does not wait, either.
    pub at_once: bool,
}

/// The body of a record about absence: one resource, and what was seen or said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AbsenceRecord {
    /// The resource.
    pub key: Key,
    /// What was seen or said.
    pub said: Said,
}

/// What was seen or said of a document's absence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// It is gone.
    Marked(Marked),
    /// Its removal is meant; of a new document: that it is another one.
    Allowed(Allowed),
    /// It is back.
    Back {
        /// When that was seen.
        at: DateTime<Utc>,
    },
}

/// The body of a record about a new name: what was known under the old one is known under the new one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedRecord {
    /// The old name.
    pub from: Key,
    /// The new name.
    pub to: Key,
    /// When.
    pub at: DateTime<Utc>,
    /// The git commit of the tree that says so.
    pub commit: Option<String>,
}
