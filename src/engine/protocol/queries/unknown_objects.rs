//! Unknown objects with marks of ours that block a resource, as plain data, each with its remedy.

use serde::{Deserialize, Serialize};

use crate::base::id::Key;

/// One unknown object that blocks a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownObjectView {
    pub id: String,
    /// The list that contains it.
    pub list: String,
    /// The mark of ours that it carries.
    pub mark: String,
    /// The resource that it blocks.
    pub key: Key,
    /// True if it is a second object with that mark.
    pub second: bool,
    /// Commands that resolve it, as alternatives.
    pub way_out: Vec<String>,
}
