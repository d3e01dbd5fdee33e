//! The scripts that the state knows: in use or absent, with the events that wait for each.

use serde::{Deserialize, Serialize};

/// A script that the state knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptView {
    pub script: String,
    /// Start of its use.
    pub since: String,
    /// Time since which its file is missing; `None` while it is in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<String>,
    /// Merchants whose events wait for it, since too many of its runs failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stopped: u64,
    /// Events for which it was not run yet.
    pub waiting: u64,
    /// Number of its keys.
    pub kept_keys: u64,
    /// Bytes of its values, of at most [`crate::model::events::scripts::BYTES_MAX`].
    pub kept_bytes: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(stopped: &u64) -> bool {
    *stopped == 0
}
