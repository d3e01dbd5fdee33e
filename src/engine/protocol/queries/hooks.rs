//! State of hooks: the scripts in use, their unsettled actions, and failures.

use serde::{Deserialize, Serialize};

use super::quotas::QuotasView;
use super::scripts::ScriptView;
use crate::model::events::hook_run::ActionOutcome;

/// State of hooks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HooksView {
    /// The names of the scripts in use.
    pub scripts: Vec<String>,
    /// SHA-256 of the set in use; `None`: no good set was found yet.
    pub loaded: Option<String>,
    /// SHA-256 of the set in the folder.
    pub files: Option<String>,
    /// Number of problems of the set in the folder; with any, an older set is in use.
    pub problems: usize,
    /// Every script that the state knows, also those whose file is missing.
    #[serde(default)]
    pub known: Vec<ScriptView>,
    /// Actions that are not settled.
    pub waiting: Vec<ActionView>,
    /// Hooks that failed and are run again.
    pub failed: Vec<FailedRunView>,
    /// Hooks that failed for good: they need attention.
    pub dead: Vec<FailedRunView>,
    /// Actions that ended without being done: they need attention.
    pub undone: Vec<FailedActionView>,
    /// The count of each list's entries.
    #[serde(default)]
    pub totals: HookTotals,
    /// Growing data, against its bounds.
    #[serde(default)]
    pub quotas: QuotasView,
}

/// Counts of hooks' open entries: lists contain the first of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookTotals {
    /// Actions that are not settled.
    pub waiting: u64,
    /// Hooks that failed and are run again.
    pub failed: u64,
    /// Hooks that failed for good.
    pub dead: u64,
}

/// An action that ended without being done, as far as is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedActionView {
    /// The merchant of the event.
    pub merchant: String,
    pub event: String,
    /// The action's name within the event.
    pub name: String,
    pub verb: String,
    /// The script that requested it.
    pub script: String,
    pub fate: ActionOutcome,
    pub message: String,
    pub at: String,
    /// The possible remedy.
    pub help: String,
}

/// An action that is not settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionView {
    /// The merchant of the event.
    pub merchant: String,
    pub event: String,
    /// The action's name within the event.
    pub name: String,
    pub verb: String,
    /// The script that requested it.
    pub script: String,
    /// Earliest time of the action.
    pub at: Option<String>,
    /// Time of the request.
    pub since: String,
    /// The reason why it waits for a person, and the remedy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "held")]
    pub on_hold: Option<String>,
    /// The reason why it is looked up before it is done, and the end of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<String>,
}

/// A hook that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedRunView {
    /// The merchant of the event.
    pub merchant: String,
    pub event: String,
    pub script: String,
    /// The cause, with the place in the script.
    pub message: String,
    /// Number of runs.
    pub tries: u32,
    /// Time of the next run.
    pub again: Option<String>,
}
