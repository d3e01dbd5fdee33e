//! Growing data against its bounds: values that scripts keep, events, actions and failed hooks.

use crate::engine::handles::shared::EngineError;
use crate::engine::protocol::queries::quotas::{MerchantQuota, QuotasView};
use crate::engine::view::EngineView;
use crate::model::events::event::EventLedger;
use crate::model::events::scripts::{
    ALL_BYTES_MAX, ALL_KEYS_MAX, BYTES_MAX, KEYS_MAX, ScriptValuesSize,
};

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
