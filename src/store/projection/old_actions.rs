//! Folds the retention of old actions: hooks' actions that the service answers no more requests
//! about are dropped.
//!
//! Guarantees: dropping an action never causes a second one. While the event that requested an
//! action is kept, the action's result is kept with it, under its name. A dropped event is not
//! newer than the horizon, and no hook runs for it again.

use super::{counted, journal_refs};
use crate::base::hash::SourceId;
use crate::base::id::{IntentId, Key};
use crate::model::record::StateOwner;
use crate::model::state::observed::Observed;
use crate::model::state::retention::EventsDropped;
use crate::store::index::ordered::{Batch, Index};
use crate::store::read_model::epoch::release_key;
use crate::store::read_model::hooks::{depth_key, doubt_key};
use crate::store::read_model::journal_refs::{
    IntentPosition, SequencePage, intent_position_key, page_key, remote_key, sequences_key,
};
use crate::store::read_model::model::{BINDING, ReadModelError, mark_key, observed_key, read};
use crate::store::read_model::old_actions::{ActionRetention, pending_actions, retention_of};

/// Drops the actions that a record names, as far as they may be dropped.
pub(crate) fn drop_old(
    index: &dyn Index,
    batch: &mut Batch,
    retained: &EventsDropped,
) -> Result<(), ReadModelError> {
    if retained.actions.is_empty() {
        return Ok(());
    }
    let pending = pending_actions(index, batch)?;
    let actions = retained.actions.iter().filter(|(_, action)| !pending.contains(action));
    for (intent, action) in actions {
        drop_intent(index, batch, (*intent, action), retained)?;
    }
    Ok(())
}

/// Drops one intent of an action, and with the first one the action itself.
fn drop_intent(
    index: &dyn Index,
    batch: &mut Batch,
    (intent, action): (IntentId, &Key),
    retained: &EventsDropped,
) -> Result<(), ReadModelError> {
    let promise: Option<IntentPosition> = read(index, batch, &intent_position_key(intent))?;
    if promise.is_none_or(|promise| promise.key != *action) {
        return Ok(());
    }
    match retention_of(index, batch, action, retained.at)? {
        ActionRetention::Keep => return Ok(()),
        ActionRetention::Droppable(known) => remove_entries(index, batch, action, &known)?,
        ActionRetention::Dropped => {}
    }
    batch.remove(intent_position_key(intent));
    Ok(())
}

/// Removes every entry of an action.
fn remove_entries(
    index: &dyn Index,
    batch: &mut Batch,
    action: &Key,
    known: &Observed,
) -> Result<(), ReadModelError> {
    let newest: SequencePage = read(index, batch, &sequences_key(action))?.unwrap_or_default();
    for number in 0..newest.full {
        batch.remove(page_key(action, number));
    }
    for id in journal_refs::ids_of(known.remote_id.as_ref(), &known.facts) {
        batch.remove(remote_key(&id, action));
    }
    remove_mark(index, batch, action, known)?;
    counted::forget(index, batch, action)?;
    for key in [sequences_key, depth_key, doubt_key, release_key, observed_key] {
        batch.remove(key(action));
    }
    Ok(())
}

/// Removes the mark. The lists that are searched for unknown marks never show what hooks create.
fn remove_mark(
    index: &dyn Index,
    batch: &mut Batch,
    action: &Key,
    known: &Observed,
) -> Result<(), ReadModelError> {
    let Some(bound) = read::<StateOwner>(index, batch, BINDING)? else { return Ok(()) };
    let generation = known.applied.as_ref().map_or(0, |applied| applied.generation);
    let mark = SourceId::new(&bound.partner, action, generation).mark();
    let key = mark_key(mark.as_str());
    if read::<Key>(index, batch, &key)?.as_ref() == Some(action) {
        batch.remove(key);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
