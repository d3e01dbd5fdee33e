//! Decides from the fold alone if something may have been done since a backup was taken.

use crate::base::id::Key;
use crate::model::events::hook_run::PendingAction;
use crate::model::intents::intent::Intent;
use crate::model::state::lifecycle::Epoch;
use crate::store::read_model::model::{ReadModel, ReadModelError};

/// Returns the reason if a resource that cannot be looked up may have been made since the backup.
pub(crate) fn unprovable_reason(
    facts: &ReadModel,
    key: &Key,
) -> Result<Option<String>, ReadModelError> {
    let Some(epoch) = facts.epoch()?.filter(|epoch| epoch.holds_unfindable) else {
        return Ok(None);
    };
    Ok(if facts.is_released(key)? { None } else { Some(epoch.hold_reason(key)) })
}

/// Returns true if a lost state may have made this resource, and no person released it.
pub(crate) fn needs_release(facts: &ReadModel, key: &Key) -> Result<bool, ReadModelError> {
    Ok(facts.began_empty()? && !facts.is_released(key)?)
}

/// Returns the reason why an intent without possible proof is not given up: it was written before a
/// restore, and its result since the backup is not known.
pub(crate) fn older_epoch_reason(
    facts: &ReadModel,
    intent: &Intent,
) -> Result<Option<String>, ReadModelError> {
    let older = |epoch: &Epoch| epoch.holds_unfindable && epoch.is_older(intent.id);
    let epoch = facts.epoch()?.filter(|epoch| older(epoch));
    Ok(epoch.map(|epoch| epoch.hold_reason(&intent.key)))
}

/// Returns the reason why an action of a hook waits for a person: a lost state may have done it,
/// and no lookup can prove that.
pub(crate) fn unprovable_action_reason(
    facts: &ReadModel,
    pending: &PendingAction,
) -> Result<Option<String>, ReadModelError> {
    let Some(epoch) = facts.epoch()?.filter(|epoch| epoch.holds_unfindable && pending.maybe_done)
    else {
        return Ok(None);
    };
    // An invalid name is reported where the action is requested.
    let Ok(action) = pending.action() else { return Ok(None) };
    Ok(if facts.is_released(&action)? { None } else { Some(epoch.action_hold_reason(&action)) })
}
