//! Reads of data that retention may drop: settled events, and the entries of old actions.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::base::fault_injection;
use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key};
use crate::model::effect::is_action;
use crate::model::events::event::{EventStatus, VerifiedEvent};
use crate::model::state::lifecycle::ACTION_RETENTION;
use crate::model::state::observed::Observed;
use crate::store::index::ordered::KeyValue;
use crate::store::read_model::hooks::{
    ACTION_REQUESTS, FAILED_ACTIONS, HOOK_CURSORS, HOOK_DEPTHS, HOOKS_FAILED,
};
use crate::store::read_model::journal_refs::{INTENT_POSITIONS, IntentPosition, SEQUENCES};
use crate::store::read_model::model::{Entries, ReadModel, ReadResult, decode};
use crate::store::read_model::resources::{
    EVENT_LEDGERS, EVENT_NUMBERS, EVENTS, EVENTS_MALFORMED, EVENTS_UNMATCHED, OBSERVED,
    OPEN_BY_KEY, SUSPENDED,
};

impl ReadModel {
    /// Returns the numbers and ids of at most `most` events of a merchant behind `after`.
    pub fn events_after(
        &self,
        merchant: &Key,
        after: u64,
        most: usize,
    ) -> ReadResult<Vec<(u64, String)>> {
        EVENT_NUMBERS.under(merchant).entries_after(self, Some(after), most)
    }

    /// Returns true if any of these verified events may be dropped: all that follows is settled.
    pub fn can_drop_any(
        &self,
        merchant: &Key,
        events: &[(u64, String)],
        horizon: DateTime<Utc>,
    ) -> ReadResult<bool> {
        let keeping = RetentionCheck::of(self, merchant)?;
        for (number, id) in events {
            if keeping.droppable(self, (*number, id), horizon)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the last event that every known script was run for. No later event is dropped.
    pub fn ran_by_all_scripts(&self, merchant: &Key) -> ReadResult<u64> {
        Ok(RetentionCheck::of(self, merchant)?.ran_to)
    }

    /// Returns true if a verified event is not newer than the horizon.
    pub fn is_older(&self, merchant: &Key, id: &str, horizon: DateTime<Utc>) -> ReadResult<bool> {
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
    ) -> ReadResult<Vec<(String, DateTime<Utc>)>> {
        EVENTS_UNMATCHED.under(merchant).entries_after(self, after, most)
    }

    /// Returns the digests of malformed bodies with the time of the last post. An entry of an
    /// earlier fold version has no time and counts as old.
    pub fn malformed_bodies(&self, merchant: &Key) -> ReadResult<Vec<(Digest, DateTime<Utc>)>> {
        let bodies = EVENTS_MALFORMED.under(merchant);
        let read = |(key, value): &KeyValue| {
            let digest =
                key.get(bodies.prefix().len()..)?.try_into().ok().map(Digest::from_bytes)?;
            Some((digest, decode(key, value).unwrap_or(DateTime::<Utc>::MIN_UTC)))
        };
        Ok(self.scan(bodies.prefix())?.iter().filter_map(read).collect())
    }
}

/// Conditions that keep a merchant's events from being dropped.
#[derive(Debug)]
pub(crate) struct RetentionCheck<'a> {
    merchant: &'a Key,
    /// Every known script was run for the events up to this number.
    ran_to: u64,
    /// Events with a failed action that no person has acknowledged.
    failed_events: Vec<String>,
}

impl<'a> RetentionCheck<'a> {
    pub(crate) fn of(entries: &impl Entries, merchant: &'a Key) -> ReadResult<Self> {
        let ledger = EVENT_LEDGERS.get(entries, merchant)?.unwrap_or_default();
        let cursors = HOOK_CURSORS.under(merchant).list(entries)?.into_iter();
        let ran_to = cursors.map(|cursor| cursor.to).fold(ledger.ran_to, u64::min);
        let undone = FAILED_ACTIONS.under(merchant).list(entries)?.into_iter();
        let failed_events = undone.map(|undone| undone.result.id.event).collect();
        Ok(Self { merchant, ran_to, failed_events })
    }

    /// Returns the event if it may be dropped, that is, if:
    ///
    /// - it is not newer than the horizon,
    /// - its hooks were run and none failed,
    /// - its actions are settled, and failed ones acknowledged,
    /// - and no intent is open for a resource that it is about.
    pub(crate) fn droppable(
        &self,
        entries: &impl Entries,
        (number, id): (u64, &str),
        horizon: DateTime<Utc>,
    ) -> ReadResult<Option<VerifiedEvent>> {
        let entry = EVENTS.get(entries, (self.merchant, id))?;
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
        if !ran
            || !ACTION_REQUESTS.of_event(self.merchant, id).is_empty(entries)?
            || !HOOKS_FAILED.under((self.merchant, id)).is_empty(entries)?
        {
            return Ok(None);
        }
        for key in &told.resources {
            if OPEN_BY_KEY.has(entries, key)? {
                return Ok(None);
            }
        }
        Ok(Some(*told))
    }
}

/// Age of an action, which decides if retention may drop it.
#[derive(Debug)]
pub(crate) enum ActionRetention {
    /// It must be kept, or is no action of a hook.
    Keep,
    /// It was settled so long ago that it may be dropped.
    Droppable(Box<Observed>),
    Dropped,
}

impl ReadModel {
    /// Returns at most `most` intents behind `after`, in order.
    pub fn intents_after(
        &self,
        after: IntentId,
        most: usize,
    ) -> ReadResult<Vec<(IntentId, IntentPosition)>> {
        INTENT_POSITIONS.entries_after(self, Some(after), most)
    }

    /// Returns the merchant of a hook's action that may be dropped at the time `at`.
    pub fn merchant_of_old_action(
        &self,
        action: &Key,
        at: DateTime<Utc>,
    ) -> ReadResult<Option<Key>> {
        Ok(match retention_of(self, action, at)? {
            ActionRetention::Droppable(known) => Some(known.merchant),
            ActionRetention::Keep | ActionRetention::Dropped => None,
        })
    }

    pub fn pending_actions(&self) -> ReadResult<BTreeSet<Key>> {
        pending_actions(self)
    }
}

/// Returns the age of an action at the time `at`. Callers check separately, by [`pending_actions`],
/// that no hook still waits for its result.
pub(crate) fn retention_of(
    entries: &impl Entries,
    action: &Key,
    at: DateTime<Utc>,
) -> ReadResult<ActionRetention> {
    if !is_action(action) || OPEN_BY_KEY.has(entries, action)? || SUSPENDED.has(entries, action)? {
        return Ok(ActionRetention::Keep);
    }
    let Some(known) = OBSERVED.get(entries, action)? else {
        let is_kept = SEQUENCES.has(entries, action)?;
        return Ok(if is_kept { ActionRetention::Keep } else { ActionRetention::Dropped });
    };
    let limit = at.checked_sub_signed(ACTION_RETENTION).unwrap_or(DateTime::<Utc>::MIN_UTC);
    let settled =
        known.on_hold.is_none() && known.recreated == 0 && known.unknown_objects.is_empty();
    let old = known.at <= limit && settled && HOOK_DEPTHS.has(entries, action)?;
    Ok(if old { ActionRetention::Droppable(Box::new(known)) } else { ActionRetention::Keep })
}

pub(crate) fn pending_actions(entries: &impl Entries) -> ReadResult<BTreeSet<Key>> {
    let pending = ACTION_REQUESTS.list(entries)?;
    Ok(pending.iter().filter_map(|pending| pending.action().ok()).collect())
}
