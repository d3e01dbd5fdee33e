//! Reads of hooks' actions that are so old that the service answers no more requests about them.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::hooks::{ACTION_REQUESTS, depth_key};
use super::journal_refs::{IntentPosition, intent_position_key, sequences_key};
use super::model::{
    INTENT_POSITIONS, ReadModel, ReadModelError, decode, decode_entry, observed_key, open_key,
    read, suspension_key,
};
use crate::base::id::{IntentId, Key};
use crate::model::events::hook_run::PendingAction;
use crate::model::operator::action::is_action;
use crate::model::state::observed::Observed;
use crate::model::state::retention::ACTION_RETENTION;
use crate::store::index::ordered::{Batch, Index};

/// Age of an action, which decides if retention may drop it.
#[derive(Debug)]
pub(in crate::store) enum ActionRetention {
    /// It must be kept, or is no action of a hook.
    Keep,
    /// It was settled so long ago that it may be dropped.
    Droppable(Box<Observed>),
    /// It was dropped already.
    Dropped,
}

impl ReadModel {
    /// Returns at most `most` intents behind `after`, in order.
    pub fn intents_after(
        &self,
        after: IntentId,
        most: usize,
    ) -> Result<Vec<(IntentId, IntentPosition)>, ReadModelError> {
        let entries =
            self.index.scan_from(INTENT_POSITIONS, Some(&intent_position_key(after)), most)?;
        let id = |key: &[u8]| {
            let id = key.get(INTENT_POSITIONS.len()..).and_then(|id| id.try_into().ok());
            IntentId::new(id.map_or(0, u64::from_be_bytes))
        };
        entries.iter().map(|(key, value)| Ok((id(key), decode(key, value)?))).collect()
    }

    /// Returns the merchant of a hook's action that may be dropped at the time `at`.
    pub fn merchant_of_old_action(
        &self,
        action: &Key,
        at: DateTime<Utc>,
    ) -> Result<Option<Key>, ReadModelError> {
        Ok(match retention_of(&*self.index, &Batch::new(), action, at)? {
            ActionRetention::Droppable(known) => Some(known.merchant),
            ActionRetention::Keep | ActionRetention::Dropped => None,
        })
    }

    /// Returns the actions of hooks' pending action requests.
    pub fn pending_actions(&self) -> Result<BTreeSet<Key>, ReadModelError> {
        pending_actions(&*self.index, &Batch::new())
    }
}

/// Returns the age of an action at the time `at`. Callers check separately, by [`pending_actions`],
/// that no hook still waits for its result.
pub(in crate::store) fn retention_of(
    index: &dyn Index,
    batch: &Batch,
    action: &Key,
    at: DateTime<Utc>,
) -> Result<ActionRetention, ReadModelError> {
    let is_there = |key: &[u8]| Ok::<_, ReadModelError>(batch.get(index, key)?.is_some());
    if !is_action(action) || is_there(&open_key(action))? || is_there(&suspension_key(action))? {
        return Ok(ActionRetention::Keep);
    }
    let Some(known) = read::<Observed>(index, batch, &observed_key(action))? else {
        return Ok(if is_there(&sequences_key(action))? {
            ActionRetention::Keep
        } else {
            ActionRetention::Dropped
        });
    };
    let limit = at.checked_sub_signed(ACTION_RETENTION).unwrap_or(DateTime::<Utc>::MIN_UTC);
    let settled =
        known.on_hold.is_none() && known.recreated == 0 && known.unknown_objects.is_empty();
    let old = known.at <= limit && settled && is_there(&depth_key(action))?;
    Ok(if old { ActionRetention::Droppable(Box::new(known)) } else { ActionRetention::Keep })
}

/// Returns the actions of pending action requests.
pub(in crate::store) fn pending_actions(
    index: &dyn Index,
    batch: &Batch,
) -> Result<BTreeSet<Key>, ReadModelError> {
    let mut keys = BTreeSet::new();
    for (key, value) in batch.scan(index, ACTION_REQUESTS)? {
        keys.extend(decode_entry::<PendingAction>(&key, &value)?.action().ok());
    }
    Ok(keys)
}
