//! Known scripts of a state: those in use, and those whose file is missing and whose position is
//! kept.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::hook_run::ScriptIdentity;
use crate::base::hash::Digest;
use crate::base::id::Key;

/// Record that the set of scripts in use changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptsLoaded {
    /// All scripts in use.
    pub scripts: Vec<ScriptIdentity>,
    /// The positions of new scripts that define their own beginning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub begins: Vec<ScriptStart>,
    pub at: DateTime<Utc>,
}

/// The position at which a new script begins in the events of a merchant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptStart {
    pub merchant: Key,
    pub script: String,
    /// The number of the last event that it is not run for.
    pub to: u64,
}

/// A script that the state knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownScript {
    /// The text of the script, as in [`ScriptIdentity`].
    pub text: Digest,
    /// Time since which it is in use.
    pub since: DateTime<Utc>,
    /// Time since which its file is missing; `None` while it is in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<DateTime<Utc>>,
}

/// Record that a person had an absent script forgotten, with its position and its kept values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptForgotten {
    pub script: String,
    pub actor: String,
    pub at: DateTime<Utc>,
}
