//! Reads of hooks' actions that are so old that the service answers no more requests about them.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::{
    FactError, Facts, PROMISES, Promise, WISHES, decode, decode_entry, depth_key, observed_key,
    open_key, promise_key, read, suspended_key, trail_key,
};
use crate::base::id::{IntentId, Key};
use crate::model::action::is_action;
use crate::model::observed::Observed;
use crate::model::ran::Pending;
use crate::model::retained::ACTIONS_KEPT;
use crate::store::index::{Batch, Index};

/// Age of an action, which decides if retention may drop it.
#[derive(Debug)]
pub(in crate::store) enum Age {
    /// It must be kept, or is no action of a hook.
    Kept,
    /// It was settled so long ago that it may be dropped.
    Old(Box<Observed>),
    /// It was dropped already.
    Gone,
}

impl Facts {
    /// Returns at most `most` intents behind `after`, in order.
    pub fn promises_after(
        &self,
        after: IntentId,
        most: usize,
    ) -> Result<Vec<(IntentId, Promise)>, FactError> {
        let entries = self.index.scan_from(PROMISES, Some(&promise_key(after)), most)?;
        let id = |key: &[u8]| {
            let id = key.get(PROMISES.len()..).and_then(|id| id.try_into().ok());
            IntentId::new(id.map_or(0, u64::from_be_bytes))
        };
        entries.iter().map(|(key, value)| Ok((id(key), decode(key, value)?))).collect()
    }

    /// Returns the merchant of a hook's action that may be dropped at the time `at`.
    pub fn old_action(&self, action: &Key, at: DateTime<Utc>) -> Result<Option<Key>, FactError> {
        Ok(match age(&*self.index, &Batch::new(), action, at)? {
            Age::Old(known) => Some(known.merchant),
            Age::Kept | Age::Gone => None,
        })
    }

    /// Returns the actions of hooks' pending action requests.
    pub fn pending_actions(&self) -> Result<BTreeSet<Key>, FactError> {
        pending_actions(&*self.index, &Batch::new())
    }
}

/// Returns the age of an action at the time `at`. Callers check separately, by [`pending_actions`],
/// that no hook still waits for its result.
pub(in crate::store) fn age(
    index: &dyn Index,
    batch: &Batch,
    action: &Key,
    at: DateTime<Utc>,
) -> Result<Age, FactError> {
    let is_there = |key: &[u8]| Ok::<_, FactError>(batch.get(index, key)?.is_some());
    if !is_action(action) || is_there(&open_key(action))? || is_there(&suspended_key(action))? {
        return Ok(Age::Kept);
    }
    let Some(known) = read::<Observed>(index, batch, &observed_key(action))? else {
        return Ok(if is_there(&trail_key(action))? { Age::Kept } else { Age::Gone });
    };
    let limit = at.checked_sub_signed(ACTIONS_KEPT).unwrap_or(DateTime::<Utc>::MIN_UTC);
    let settled = known.held.is_none() && known.remade == 0 && known.strays.is_empty();
    let old = known.at <= limit && settled && is_there(&depth_key(action))?;
    Ok(if old { Age::Old(Box::new(known)) } else { Age::Kept })
}

/// Returns the actions of pending action requests.
pub(in crate::store) fn pending_actions(
    index: &dyn Index,
    batch: &Batch,
) -> Result<BTreeSet<Key>, FactError> {
    let mut keys = BTreeSet::new();
    for (key, value) in batch.scan(index, WISHES)? {
        keys.extend(decode_entry::<Pending>(&key, &value)?.action().ok());
    }
    Ok(keys)
}
