//! Drops hooks' actions that the service can no longer answer, a page of intents at each search.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{STEP, empty_record, write};
use crate::base::id::{IntentId, Key};
use crate::engine::core::handles::{EngineError, EngineShared};
use crate::model::state::lifecycle::EventsDropped;

/// Largest number of intents in one search.
const INTENTS_MAX: usize = 4096;

/// Checks the next page of intents; after the last page it starts again.
pub(super) async fn drop_page(shared: &EngineShared, last: &AtomicU64) -> Result<(), EngineError> {
    let after = IntentId::new(last.load(Ordering::Relaxed));
    let page = shared.facts.intents_after(after, INTENTS_MAX)?;
    last.store(page.last().map_or(0, |(intent, _)| intent.get()), Ordering::Relaxed);
    let pending = shared.facts.pending_actions()?;
    let mut old: BTreeMap<Key, Vec<(IntentId, Key)>> = BTreeMap::new();
    for (intent, promise) in page {
        let merchant = shared.facts.merchant_of_old_action(&promise.key, shared.now())?;
        if let Some(merchant) = merchant.filter(|_| !pending.contains(&promise.key)) {
            old.entry(merchant).or_default().push((intent, promise.key));
        }
    }
    for (merchant, actions) in old {
        // Without a horizon a repeated hook run is not ruled out.
        let Some(horizon) = shared.facts.event_ledger(&merchant)?.horizon else { continue };
        for some in actions.chunks(STEP) {
            let actions = some.to_vec();
            write(shared, EventsDropped { actions, ..empty_record(shared, &merchant, horizon) })
                .await?;
        }
    }
    Ok(())
}
