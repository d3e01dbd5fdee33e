//! The ways on from a resource that is not ready: commands to copy, and the resources that it needs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::Key;

/// A command that a person may copy, and its purpose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// A needed resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NeedView {
    pub key: Key,
    pub ready: bool,
    /// A CamelCase word; `Missing` if nothing has this name.
    pub reason: String,
    /// One sentence; empty for a ready resource.
    pub message: String,
    /// Its own needs, unless it is ready: nothing waits for them then.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub needs: Vec<NeedView>,
    /// True if its needs are left out, since there are too many.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_cut: bool,
}
