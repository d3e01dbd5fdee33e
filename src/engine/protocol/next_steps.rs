//! The ways on from a resource that is not ready: commands to copy, and the resources that it waits for.

use serde::{Deserialize, Serialize};

use crate::base::id::Key;

/// A command that a person may copy, and its purpose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextStep {
    /// The command, complete.
    pub command: String,
    /// An infinitive phrase: `print the link for the applicant`.
    pub purpose: String,
}

impl NextStep {
    pub(crate) fn new(purpose: &str, command: impl Into<String>) -> Self {
        Self { command: command.into(), purpose: purpose.to_owned() }
    }
}

/// The resources that a resource waits for, deepest ones included, as a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeedsView {
    pub items: Vec<NeedView>,
    /// Number of needs that the tree leaves out.
    #[serde(default)]
    pub omitted: usize,
}

impl NeedsView {
    pub fn is_empty(&self) -> bool {
        self.items.is_empty() && self.omitted == 0
    }
}

/// One resource of the tree, before those that it waits for itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeedView {
    pub key: Key,
    /// Number of resources between it and the root of the tree, plus one.
    pub depth: usize,
    /// A CamelCase word; `Missing` for a resource without document and object.
    pub reason: String,
    pub message: String,
}
