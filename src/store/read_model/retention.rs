//! Reads of data that retention may drop: settled events, and the entries of old actions.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::base::fault_injection;
use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key};
use crate::model::effect::is_action;
use crate::model::events::event::{EventEntry, EventLedger, EventStatus, VerifiedEvent};
use crate::model::events::hook_run::{ActionResult, Cursor, FailedAction, PendingAction};
use crate::model::state::lifecycle::ACTION_RETENTION;
use crate::model::state::observed::Observed;
use crate::store::index::ordered::{Batch, Index, KeyValue};
use crate::store::read_model::events::{event_key, ledger_key, number_key, numbers_of};
use crate::store::read_model::failed::failed_of;
use crate::store::read_model::hooks::{
    ACTION_REQUESTS, cursors_of, depth_key, failed_actions_of, requests_of, results_of,
};
use crate::store::read_model::journal_refs::{IntentPosition, intent_position_key, sequences_key};
use crate::store::read_model::model::{
    INTENT_POSITIONS, ReadModel, ReadModelError, decode, decode_entry, observed_key, open_key,
    read, suspension_key,
};

impl ReadModel {
    /// Returns the numbers and ids of at most `most` events of a merchant behind the number
    /// `after`.
    pub fn events_after(
        &self,
        merchant: &Key,
        after: u64,
        most: usize,
    ) -> Result<Vec<(u64, String)>, ReadModelError> {
        let (prefix, after) = (numbers_of(merchant), number_key(merchant, after));
        let number = |key: &[u8]| {
            let number = key.get(prefix.len()..).and_then(|number| number.try_into().ok());
            number.map_or(0, u64::from_be_bytes)
        };
        let entries = self.index.scan_from(&prefix, Some(&after), most)?;
        entries.iter().map(|(key, value)| Ok((number(key), decode(key, value)?))).collect()
    }

    /// Returns true if any of these verified events may be dropped: everything that follows from it
    /// is settled.
    pub fn can_drop_any(
        &self,
        merchant: &Key,
        events: &[(u64, String)],
        horizon: DateTime<Utc>,
    ) -> Result<bool, ReadModelError> {
        let (index, batch) = (&*self.index, Batch::new());
        let keeping = RetentionCheck::of(index, &batch, merchant)?;
        for (number, id) in events {
            if keeping.droppable(index, &batch, (*number, id), horizon)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the number of the last event that every known script was run for. No later event is
    /// dropped.
    pub fn ran_by_all_scripts(&self, merchant: &Key) -> Result<u64, ReadModelError> {
        Ok(RetentionCheck::of(&*self.index, &Batch::new(), merchant)?.ran_to)
    }

    /// Returns true if a verified event is not newer than the horizon.
    pub fn is_older(
        &self,
        merchant: &Key,
        id: &str,
        horizon: DateTime<Utc>,
    ) -> Result<bool, ReadModelError> {
        let entry = self.event(merchant, id)?;
        Ok(entry.is_some_and(|entry| match entry.status {
            EventStatus::Verified(told) => told.created <= horizon && told.at <= horizon,
            EventStatus::Waiting | EventStatus::OtherMode | EventStatus::Forged => false,
        }))
    }

    /// Returns at most `most` posted ids behind `after` that match no event of the merchant's mode,
    /// with the time of the first post.
    pub fn unmatched_after(
        &self,
        merchant: &Key,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<(String, DateTime<Utc>)>, ReadModelError> {
        let prefix = super::events::unmatched_key(merchant, "");
        let after = after.map(|after| super::events::unmatched_key(merchant, after));
        let entries = self.index.scan_from(&prefix, after.as_deref(), most)?;
        let id = |key: &[u8]| {
            String::from_utf8_lossy(key.get(prefix.len()..).unwrap_or_default()).into_owned()
        };
        entries.iter().map(|(key, value)| Ok((id(key), decode(key, value)?))).collect()
    }

    /// Returns the digests of malformed bodies with the time of the last post. An entry of an
    /// earlier fold version has no time and counts as old.
    pub fn malformed_bodies(
        &self,
        merchant: &Key,
    ) -> Result<Vec<(Digest, DateTime<Utc>)>, ReadModelError> {
        let prefix = super::events::malformed_of(merchant);
        let read = |(key, value): &KeyValue| {
            let digest = key.get(prefix.len()..)?.try_into().ok().map(Digest::from_bytes)?;
            Some((digest, decode(key, value).unwrap_or(DateTime::<Utc>::MIN_UTC)))
        };
        Ok(self.index.scan(&prefix)?.iter().filter_map(read).collect())
    }
}

/// Conditions that keep a merchant's events from being dropped.
#[derive(Debug)]
pub(in crate::store) struct RetentionCheck<'a> {
    merchant: &'a Key,
    /// Every known script was run for the events up to this number.
    ran_to: u64,
    /// Events with a failed action that no person has acknowledged.
    failed_events: Vec<String>,
}

impl<'a> RetentionCheck<'a> {
    pub(in crate::store) fn of(
        index: &dyn Index,
        batch: &Batch,
        merchant: &'a Key,
    ) -> Result<Self, ReadModelError> {
        let ledger: EventLedger = read(index, batch, &ledger_key(merchant))?.unwrap_or_default();
        let mut ran_to = ledger.ran_to;
        for (key, value) in batch.scan(index, &cursors_of(merchant))? {
            let cursor: Cursor = decode(&key, &value)?;
            ran_to = ran_to.min(cursor.to);
        }
        let undone = batch.scan(index, &failed_actions_of(merchant))?;
        let event = |(key, value): &KeyValue| {
            decode::<FailedAction>(key, value).map(|undone| undone.result.id.event)
        };
        let undone = undone.iter().map(event).collect::<Result<_, _>>()?;
        Ok(Self { merchant, ran_to, failed_events: undone })
    }

    /// Returns the event if it may be dropped, that is, if:
    ///
    /// - it is not newer than the horizon,
    /// - its hooks were run and none failed,
    /// - its actions are settled, and failed ones acknowledged,
    /// - and no intent is open for a resource that it is about.
    pub(in crate::store) fn droppable(
        &self,
        index: &dyn Index,
        batch: &Batch,
        (number, id): (u64, &str),
        horizon: DateTime<Utc>,
    ) -> Result<Option<VerifiedEvent>, ReadModelError> {
        let entry: Option<EventEntry> = read(index, batch, &event_key(self.merchant, id))?;
        let Some(EventStatus::Verified(told)) = entry.map(|entry| entry.status) else {
            return Ok(None);
        };
        if told.created > horizon || told.at > horizon {
            return Ok(None);
        }
        if fault_injection::is_active("retention-drops-unrun") {
            return Ok(Some(*told));
        }
        let ran = number <= self.ran_to && !self.failed_events.iter().any(|undone| undone == id);
        let open = |prefix: &[u8]| Ok::<_, ReadModelError>(!batch.is_bare(index, prefix)?);
        if !ran || open(&requests_of(self.merchant, id))? || open(&failed_of(self.merchant, id))? {
            return Ok(None);
        }
        for key in &told.resources {
            if batch.get(index, &open_key(key))?.is_some() {
                return Ok(None);
            }
        }
        Ok(Some(*told))
    }

    /// Returns the results of an event's actions, with the keys of their entries.
    pub(in crate::store) fn action_results(
        &self,
        index: &dyn Index,
        batch: &Batch,
        id: &str,
    ) -> Result<Vec<(Vec<u8>, ActionResult)>, ReadModelError> {
        let entries = batch.scan(index, &results_of(self.merchant, id))?;
        entries.into_iter().map(|(key, value)| Ok((key.clone(), decode(&key, &value)?))).collect()
    }
}

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
