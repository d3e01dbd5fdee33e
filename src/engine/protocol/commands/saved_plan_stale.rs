//! Changes since a plan was saved, by name.

use serde::{Deserialize, Serialize};

use crate::base::id::Key;

/// One change since a plan was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanChange {
    pub key: Key,
    /// The file of its document, now or then.
    pub file: Option<String>,
    /// The line of its document.
    pub line: Option<usize>,
    /// The change, in a sentence.
    pub what: String,
}
