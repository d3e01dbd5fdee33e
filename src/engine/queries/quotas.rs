//! Growing data against its bounds: values that scripts keep, events, actions and failed hooks.

use serde::{Deserialize, Serialize};

use crate::engine::core::handles::EngineError;
use crate::engine::view::EngineView;
use crate::model::events::event::EventLedger;
use crate::model::events::scripts::{
    ALL_BYTES_MAX, ALL_KEYS_MAX, BYTES_MAX, KEYS_MAX, ScriptValuesSize,
};

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

/// Largest number of merchants in the list.
const SHOWN_MAX: usize = 100;

impl EngineView<'_> {
    /// Returns the growing data, against its bounds.
    pub(crate) fn quotas(&self) -> Result<QuotasView, EngineError> {
        let facts = &self.shared.facts;
        let ledgers = facts.ledgers_by_merchant()?;
        let sum = |of: fn(&EventLedger) -> u64| {
            ledgers.iter().map(|(_, ledger)| of(ledger)).fold(0, u64::saturating_add)
        };
        let share = ledgers.iter().map(|(key, ledger)| MerchantQuota::of(key.short(), ledger));
        let mut merchants: Vec<MerchantQuota> = share.collect();
        merchants.sort_by_key(|one| std::cmp::Reverse(one.held));
        merchants.truncate(SHOWN_MAX);
        Ok(QuotasView {
            kept: facts.stored_total()?,
            kept_max: ScriptValuesSize { keys: ALL_KEYS_MAX, bytes: ALL_BYTES_MAX },
            script_max: ScriptValuesSize { keys: KEYS_MAX, bytes: BYTES_MAX },
            events_held: sum(EventLedger::stored_count),
            events_dropped: sum(|ledger| ledger.dropped),
            merchants,
        })
    }
}

impl MerchantQuota {
    fn of(merchant: String, ledger: &EventLedger) -> Self {
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
