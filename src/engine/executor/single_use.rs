//! Single-use values, such as a one-time token, are used by at most one intent (see [`SingleUse`]).

use crate::engine::handles::shared::EngineShared;
use crate::model::intents::effect::{Effect, SingleUse};
use crate::model::record::Record;
use crate::model::state::observed::{FactSource, Observation};

/// Returns true if an effect uses a value that is too old.
pub(crate) fn is_expired(shared: &EngineShared, effect: &Effect) -> bool {
    effect.single_use.as_ref().is_some_and(|once| once.expires_at <= shared.now())
}

/// Returns the record that forgets the value which an effect uses. It precedes the intent, so that
/// no part of a batch that a power failure cut leaves the value to a second intent. A reusable
/// value has no such record.
pub(crate) fn consume_record(shared: &EngineShared, effect: &Effect) -> Option<Record> {
    let SingleUse { expires_at: _, clearing_facts: spent, is_reusable: again } =
        effect.single_use.as_deref()?;
    if *again {
        return None;
    }
    Some(Record::Observation(Box::new(Observation {
        key: effect.key.clone(),
        merchant: effect.merchant.clone(),
        at: shared.now(),
        source: FactSource::Answer,
        remote_id: None,
        exists: None,
        applied: None,
        facts: spent.clone(),
    })))
}
