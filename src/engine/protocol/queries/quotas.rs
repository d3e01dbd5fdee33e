//! Growing data against its bounds: values that scripts keep, events, actions and failed hooks.

use serde::{Deserialize, Serialize};

use crate::model::events::event::EventLedger;
use crate::model::events::scripts::ScriptValuesSize;

/// Growing data, against its bounds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct QuotasView {
    /// Keys and bytes that all scripts keep together.
    pub kept: ScriptValuesSize,
    /// Upper bound for all scripts.
    pub kept_max: ScriptValuesSize,
    /// Upper bound for one script.
    pub script_max: ScriptValuesSize,
    /// Events that are held.
    pub events_held: u64,
    /// Events that retention dropped.
    pub events_dropped: u64,
    /// The share of each merchant or application, the largest holders first: at most [`SHOWN_MAX`].
    pub merchants: Vec<MerchantQuota>,
}

/// The data of one merchant's events.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MerchantQuota {
    pub merchant: String,
    /// Events that are held.
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
