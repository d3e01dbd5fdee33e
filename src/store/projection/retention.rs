//! Folds retention: removes events that are settled and older than the horizon, with all their
//! entries.
//!
//! Guarantees: an event is kept while any of these holds:
//!
//! - one of its hooks is to run or failed,
//! - one of its actions is open or not acknowledged,
//! - a payment of a resource that it is about is under way.
//!
//! Actions that went to the service keep their own entries, their names, marks and intents, until
//! the service answers no more requests about them.

#[cfg(test)]
mod old_actions_tests;

use chrono::{DateTime, Utc};

use crate::base::hash::SourceId;
use crate::base::id::{IntentId, Key};
use crate::model::effect::Action;
use crate::model::events::event::{EventEntry, EventLedger, EventStatus, VerifiedEvent};
use crate::model::events::hook_run::{ActionRequestId, ActionResult};
use crate::model::record::StateOwner;
use crate::model::remote_object::RemoteObject;
use crate::model::state::lifecycle::{EventsDropped, Lapsed};
use crate::model::state::observed::Observed;
use crate::store::index::ordered::{Batch, Index};
use crate::store::projection::ledger::change_ledger;
use crate::store::projection::{exposure, ledger};
use crate::store::read_model::events::{
    event_key, forged_key, malformed_key, number_key, numbers_of, object_key, unmatched_key,
};
use crate::store::read_model::hooks::{depth_key, doubt_key};
use crate::store::read_model::journal_refs;
use crate::store::read_model::journal_refs::{
    IntentPosition, SequencePage, intent_position_key, page_key, remote_key, sequences_key,
};
use crate::store::read_model::model::{
    BINDING, ReadModelError, decode_entry, mark_key, observed_key, read,
};
use crate::store::read_model::operator::release_key;
use crate::store::read_model::retention::{
    ActionRetention, RetentionCheck, pending_actions, retention_of,
};

/// Maximum of numbers that one record spans, so that its fold delays other records only briefly.
const EVENTS_MAX: usize = 256;

/// Drops what a record names, as far as it may be dropped.
pub(crate) fn apply_retention(
    index: &dyn Index,
    batch: &mut Batch,
    retained: &EventsDropped,
) -> Result<(), ReadModelError> {
    let merchant = &retained.merchant;
    let keeping = RetentionCheck::of(index, batch, merchant)?;
    let mut dropped = 0_u64;
    let (after, to) = retained.events;
    for (number, id) in events_between(index, batch, merchant, (after, to))? {
        let (number, id) = (&number, &id);
        let event = (*number, id.as_str());
        let Some(told) = keeping.droppable(index, batch, event, retained.horizon)? else {
            continue;
        };
        for (key, granted) in keeping.action_results(index, batch, id)? {
            batch.remove(key);
            remove_notes(index, batch, &granted)?;
        }
        remove_event(index, batch, &told, (*number, retained.horizon))?;
        dropped = dropped.saturating_add(1);
    }
    let mut forgeries = 0_u64;
    for id in &retained.forged {
        let was = remove_unmatched(index, batch, (merchant, id), retained.horizon)?;
        forgeries = forgeries.saturating_add(u64::from(was));
    }
    for digest in &retained.malformed {
        batch.remove(malformed_key(merchant, digest));
    }
    drop_old(index, batch, retained)?;
    let garbled = u64::try_from(retained.malformed.len()).unwrap_or(u64::MAX);
    change_ledger(index, batch, merchant, |ledger: &mut EventLedger| {
        ledger.horizon = ledger.horizon.max(Some(retained.horizon));
        ledger.dropped = ledger.dropped.saturating_add(dropped);
        ledger.forgeries_dropped = ledger.forgeries_dropped.saturating_add(forgeries);
        ledger.malformed = ledger.malformed.saturating_sub(garbled);
    })
}

/// Removes an event, and the observed version of its object if nothing about the object is newer
/// than the horizon.
fn remove_event(
    index: &dyn Index,
    batch: &mut Batch,
    told: &VerifiedEvent,
    (number, horizon): (u64, DateTime<Utc>),
) -> Result<(), ReadModelError> {
    batch.remove(event_key(&told.merchant, &told.event));
    batch.remove(number_key(&told.merchant, number));
    let Some(object) = &told.object else { return Ok(()) };
    let key = object_key(&told.merchant, &object.id);
    let known: Option<RemoteObject> = read(index, batch, &key)?;
    if known.is_some_and(|known| known.is_within(horizon)) {
        batch.remove(key);
    }
    Ok(())
}

/// Removes the notes about an action, unless it went to the service: then an event about it may
/// still arrive.
fn remove_notes(
    index: &dyn Index,
    batch: &mut Batch,
    granted: &ActionResult,
) -> Result<(), ReadModelError> {
    let ActionRequestId { merchant, .. } = &granted.id;
    let Ok(name) = granted.id.action_name() else { return Ok(()) };
    let key = Action::key(merchant, &name);
    if batch.get(index, &observed_key(&key))?.is_none() {
        batch.remove(depth_key(&key));
        batch.remove(doubt_key(&key));
    }
    Ok(())
}

/// Removes an expired posted id that matches no event. Returns true if it was removed.
fn remove_unmatched(
    index: &dyn Index,
    batch: &mut Batch,
    (merchant, id): (&Key, &str),
    horizon: DateTime<Utc>,
) -> Result<bool, ReadModelError> {
    let key = event_key(merchant, id);
    let entry: Option<EventEntry> = read(index, batch, &key)?;
    let old = |entry: &EventEntry| {
        entry.first <= horizon
            && matches!(entry.status, EventStatus::Forged | EventStatus::OtherMode)
    };
    let was = entry.as_ref().is_some_and(old);
    if was {
        batch.remove(key);
        batch.remove(forged_key(merchant, id));
        batch.remove(unmatched_key(merchant, id));
    }
    Ok(was)
}

/// Drops the waiting post of an event from before the horizon.
pub(crate) fn drop_lapsed(
    index: &dyn Index,
    batch: &mut Batch,
    lapsed: &Lapsed,
) -> Result<(), ReadModelError> {
    let key = event_key(&lapsed.merchant, &lapsed.event);
    let known: Option<EventEntry> = read(index, batch, &key)?;
    let Some(page) = known.and_then(|known| known.page) else { return Ok(()) };
    batch.remove(key);
    ledger::remove_waiting(index, batch, (&lapsed.merchant, page), &lapsed.event)?;
    change_ledger(index, batch, &lapsed.merchant, |ledger| {
        ledger.waiting = ledger.waiting.saturating_sub(1);
        ledger.lapsed = ledger.lapsed.saturating_add(1);
    })
}

/// Returns the numbers and ids of the events behind `after` and up to `to`.
fn events_between(
    index: &dyn Index,
    batch: &Batch,
    merchant: &Key,
    (after, to): (u64, u64),
) -> Result<Vec<(u64, String)>, ReadModelError> {
    let (prefix, after) = (numbers_of(merchant), number_key(merchant, after));
    let mut numbered = Vec::new();
    for (key, value) in batch.scan_from(index, &prefix, Some(&after), EVENTS_MAX)? {
        let number = key.get(prefix.len()..).and_then(|number| number.try_into().ok());
        let number = number.map_or(u64::MAX, u64::from_be_bytes);
        if number > to {
            break;
        }
        numbered.push((number, decode_entry(&key, &value)?));
    }
    Ok(numbered)
}

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
    exposure::forget(index, batch, action)?;
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
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::events::event::Via;
    use crate::model::events::hook_run::CursorAdvanced;
    use crate::model::record::Record;
    use crate::model::remote_object::Freshness;
    use crate::store::index::ordered::MemoryIndex;
    use crate::store::projection::fold::fold;
    use crate::store::read_model::model::ReadModel;

    fn day(day: u32) -> DateTime<Utc> {
        format!("2026-11-{day:02}T12:00:00Z").parse().unwrap()
    }

    fn merchant() -> Key {
        "Merchant/acme".parse().unwrap()
    }

    /// An event of this day about a payment that the service dates on the first day.
    fn event(number: u64, of: u32, standing: Freshness) -> Record {
        let data = serde_json::json!({"id": "t1", "status": "COMPLETED", "amount": 100,
            "modified": "2026-11-01T12:00:00.000Z"});
        let kind = "transaction.updated".to_owned();
        Record::EventVerified(Box::new(VerifiedEvent {
            merchant: merchant(),
            event: format!("e{number}"),
            object: RemoteObject::of(&kind, &data, day(of)),
            kind,
            created: day(of),
            via: Via::Poll,
            body: "vault".to_owned(),
            freshness: standing,
            previous: None,
            resources: Vec::new(),
            quiet: false,
            at: day(of),
        }))
    }

    /// The newest version of an object is kept as long as its newest event, although the service
    /// dates the object before the horizon. Otherwise an older event that arrives late would count
    /// as new.
    #[test]
    fn an_object_is_known_as_long_as_an_event_of_it_is() {
        let index = Arc::new(MemoryIndex::new());
        let facts = ReadModel::new(index.clone());
        let take = |record: &Record| {
            let mut batch = Batch::new();
            fold(&*index, &mut batch, record).unwrap();
            index.apply(batch).unwrap();
        };
        take(&event(1, 1, Freshness::Newer));
        take(&event(2, 9, Freshness::Same));
        let (script, held) = (None, Vec::new());
        take(&Record::CursorAdvanced(Box::new(CursorAdvanced {
            merchant: merchant(),
            to: 2,
            script,
            held_back: held,
        })));
        for (horizon, events, is_known) in [(5, 1, true), (20, 0, false)] {
            take(&Record::EventsDropped(Box::new(EventsDropped {
                merchant: merchant(),
                horizon: day(horizon),
                events: (0, 2),
                forged: Vec::new(),
                malformed: Vec::new(),
                actions: Vec::new(),
                at: day(25),
            })));
            assert_eq!(facts.events_after(&merchant(), 0, 9).unwrap().len(), events);
            let known = facts.remote_object(&merchant(), "t1").unwrap();
            assert_eq!(known.is_some(), is_known, "day {horizon}");
        }
    }
}
