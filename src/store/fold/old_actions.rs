//! Folds the retention of old actions: hooks' actions that the service answers no more requests
//! about are dropped.
//!
//! Guarantees: dropping an action never causes a second one. While the event that requested an
//! action is kept, the action's result is kept with it, under its name. A dropped event is not
//! newer than the horizon, and no hook runs for it again.

use super::{counted, trail};
use crate::base::hash::SourceId;
use crate::base::id::{IntentId, Key};
use crate::model::observed::Observed;
use crate::model::record::Binding;
use crate::model::retained::Retained;
use crate::store::facts::{
    Age, BINDING, FactError, Page, Promise, age, depth_key, doubt_key, mark_key, observed_key,
    page_key, pending_actions, promise_key, read, released_key, remote_key, trail_key,
};
use crate::store::index::{Batch, Index};

/// Drops the actions that a record names, as far as they may be dropped.
pub(super) fn dropped(
    index: &dyn Index,
    batch: &mut Batch,
    retained: &Retained,
) -> Result<(), FactError> {
    if retained.actions.is_empty() {
        return Ok(());
    }
    let pending = pending_actions(index, batch)?;
    let actions = retained.actions.iter().filter(|(_, action)| !pending.contains(action));
    for (intent, action) in actions {
        one(index, batch, (*intent, action), retained)?;
    }
    Ok(())
}

/// Drops one intent of an action, and with the first one the action itself.
fn one(
    index: &dyn Index,
    batch: &mut Batch,
    (intent, action): (IntentId, &Key),
    retained: &Retained,
) -> Result<(), FactError> {
    let promise: Option<Promise> = read(index, batch, &promise_key(intent))?;
    if promise.is_none_or(|promise| promise.key != *action) {
        return Ok(());
    }
    match age(index, batch, action, retained.at)? {
        Age::Kept => return Ok(()),
        Age::Old(known) => entries(index, batch, action, &known)?,
        Age::Gone => {}
    }
    batch.remove(promise_key(intent));
    Ok(())
}

/// Removes every entry of an action.
fn entries(
    index: &dyn Index,
    batch: &mut Batch,
    action: &Key,
    known: &Observed,
) -> Result<(), FactError> {
    let newest: Page = read(index, batch, &trail_key(action))?.unwrap_or_default();
    for number in 0..newest.full {
        batch.remove(page_key(action, number));
    }
    for id in trail::ids_of(known.remote_id.as_ref(), &known.facts) {
        batch.remove(remote_key(&id, action));
    }
    mark(index, batch, action, known)?;
    counted::forget(index, batch, action)?;
    for key in [trail_key, depth_key, doubt_key, released_key, observed_key] {
        batch.remove(key(action));
    }
    Ok(())
}

/// Removes the mark. The lists that are searched for unknown marks never show what hooks create.
fn mark(
    index: &dyn Index,
    batch: &mut Batch,
    action: &Key,
    known: &Observed,
) -> Result<(), FactError> {
    let Some(bound) = read::<Binding>(index, batch, BINDING)? else { return Ok(()) };
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
