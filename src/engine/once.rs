//! What works once, such as a one-time token, is used by one intent at most (see [`Once`]).

use super::shared::Shared;
use crate::model::effect::{Effect, Once};
use crate::model::observed::{Observation, Source};
use crate::model::record::Record;

/// Whether an effect uses something that is too old by now.
pub(super) fn is_too_old(shared: &Shared, effect: &Effect) -> bool {
    effect.once.as_ref().is_some_and(|once| once.until <= shared.now())
}

/// The record that forgets what an effect uses. It is written before the intent that uses it, so
/// that no part of a batch that power cut short leaves it to a second intent. There is none of what may be used again.
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
