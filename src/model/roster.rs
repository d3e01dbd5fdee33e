//! The scripts that a state knows: those in use, and those whose file is gone and whose place is kept.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::model::ran::Lane;

/// Other scripts are in use from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// All of them.
    pub scripts: Vec<Lane>,
    /// The places where new ones begin that say so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub begins: Vec<Begin>,
    /// When.
    pub at: DateTime<Utc>,
}

/// The place where a new script begins in the events of a merchant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begin {
    /// Whose events.
    pub merchant: Key,
    /// The script.
    pub script: String,
    /// The number of the last event that it is not run for.
    pub to: u64,
}

/// A script that the state knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enrolled {
    /// What it does, as of [`Lane`].
    pub text: Digest,
    /// Since when it is in use.
    pub since: DateTime<Utc>,
    /// Since when its file is gone; none while it is in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<DateTime<Utc>>,
}

/// A person let an absent script go: its place and what it keeps are forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptForgotten {
    /// The script.
    pub script: String,
    /// The person.
    pub actor: String,
    /// When.
    pub at: DateTime<Utc>,
}
