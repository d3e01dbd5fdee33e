//! The state of hooks and their scripts, their data against its bounds, and the data of a trial run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::Key;
use crate::engine::protocol::replay::TrialRequest;
use crate::engine::protocol::views::is_zero;
use crate::model::events::event::EventLedger;
use crate::model::events::hook_run::ActionOutcome;
use crate::model::events::scripts::ScriptValuesSize;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HooksView {
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
    /// Runs that a person requested, and that are not made yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requested: Vec<RequestedRunView>,
    /// Hooks that failed for good: they need attention.
    pub dead: Vec<FailedRunView>,
    /// Actions that ended without being done: they need attention.
    pub undone: Vec<FailedActionView>,
    #[serde(default)]
    pub totals: HookTotals,
    #[serde(default)]
    pub quotas: QuotasView,
}

/// Counts of hooks' open entries: lists contain the first of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookTotals {
    pub waiting: u64,
    pub failed: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub requested: u64,
    pub dead: u64,
}

/// An action that ended without being done, as far as is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedActionView {
    pub merchant: String,
    pub event: String,
    /// The action's name within the event.
    pub name: String,
    pub verb: String,
    pub script: String,
    pub fate: ActionOutcome,
    pub message: String,
    pub at: String,
    pub help: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActionView {
    pub merchant: String,
    pub event: String,
    /// The action's name within the event.
    pub name: String,
    pub verb: String,
    pub script: String,
    pub at: Option<String>,
    pub since: String,
    /// The reason why it waits for a person, and the remedy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "held")]
    pub on_hold: Option<String>,
    /// The reason why it is looked up before it is done, and the end of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedRunView {
    pub merchant: String,
    pub event: String,
    pub script: String,
    /// The cause, with the place in the script.
    pub message: String,
    pub tries: u32,
    pub again: Option<String>,
}

/// A run of a script that a person requested with `events replay --since`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestedRunView {
    pub merchant: String,
    pub event: String,
    pub script: String,
    pub actor: String,
    /// The time of the request.
    pub at: String,
}

/// A script that the state knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    pub kept_keys: u64,
    /// Bytes of its values, of at most [`crate::model::events::scripts::BYTES_MAX`].
    pub kept_bytes: u64,
}

/// Growing data, against its bounds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct QuotasView {
    /// Keys and bytes that all scripts keep together.
    pub kept: ScriptValuesSize,
    /// Upper bound for all scripts.
    pub kept_max: ScriptValuesSize,
    /// Upper bound for one script.
    pub script_max: ScriptValuesSize,
    pub events_held: u64,
    pub events_dropped: u64,
    /// The share of each merchant or application, the largest holders first: at most [`SHOWN_MAX`].
    pub merchants: Vec<MerchantQuota>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MerchantQuota {
    pub merchant: String,
    pub held: u64,
    /// Events that retention dropped.
    pub dropped: u64,
    /// Actions that are not settled.
    pub waiting: u64,
    /// Failed hooks: those that are run again, and those that need attention.
    pub failed: u64,
    /// Settled events up to here are dropped; `None`: retention has dropped nothing yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub horizon: Option<String>,
}

impl MerchantQuota {
    pub(crate) fn of(merchant: String, ledger: &EventLedger) -> Self {
        Self {
            merchant,
            held: ledger.stored_count(),
            dropped: ledger.dropped,
            waiting: ledger.pending,
            failed: ledger.retried.saturating_add(ledger.dead),
            horizon: ledger.horizon.as_ref().map(crate::base::clock::timestamp),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialRunQuery {
    /// An event as scripts see it, by its id.
    Event(String),
    /// The known state of a transaction of the service.
    Transaction { merchant: Key, id: String },
    /// The consequences of these action requests, by their names.
    Names(Vec<TrialRequest>),
    /// A value that a script keeps.
    Kept { script: String, key: String },
}
