//! Single-use values, such as a one-time token, are used by at most one intent (see [`Once`]).

use super::shared::Shared;
use crate::model::effect::{Effect, Once};
use crate::model::observed::{Observation, Source};
use crate::model::record::Record;

/// Returns true if an effect uses a value that is too old.
pub(super) fn is_too_old(shared: &Shared, effect: &Effect) -> bool {
    effect.once.as_ref().is_some_and(|once| once.until <= shared.now())
}

/// Returns the record that forgets the value which an effect uses. It precedes the intent, so that
/// no part of a batch that a power failure cut leaves the value to a second intent. A reusable
/// value has no such record.
pub(super) fn spent(shared: &Shared, effect: &Effect) -> Option<Record> {
    let Once { until: _, spent, again } = effect.once.as_deref()?;
    if *again {
        return None;
    }
    Some(Record::Observation(Box::new(Observation {
        key: effect.key.clone(),
        merchant: effect.merchant.clone(),
        at: shared.now(),
        source: Source::Answer,
        remote_id: None,
        exists: None,
        applied: None,
        facts: spent.clone(),
    })))
}
