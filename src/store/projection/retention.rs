//! Folds retention: removes settled events older than the horizon, with all their entries.
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
use crate::model::events::event::{EventEntry, EventStatus, VerifiedEvent};
use crate::model::events::hook_run::ActionResult;
use crate::model::state::lifecycle::{EventsDropped, Lapsed};
use crate::model::state::observed::Observed;
use crate::store::error::Folded;
use crate::store::projection::ledger::change_ledger;
use crate::store::projection::{exposure, ledger};
use crate::store::read_model::hooks::{ACTION_RESULTS, DOUBTED_ACTIONS, HOOK_DEPTHS};
use crate::store::read_model::journal_refs::{
    self, INTENT_POSITIONS, REMOTE, SEQUENCE_PAGES, SEQUENCES,
};
use crate::store::read_model::model::Changes;
use crate::store::read_model::resources::{
    BINDING, EVENT_NUMBERS, EVENTS, EVENTS_FORGED, EVENTS_MALFORMED, EVENTS_UNMATCHED, MARKS,
    OBJECTS, OBSERVED, RELEASED,
};
use crate::store::read_model::retention::{
    ActionRetention, RetentionCheck, pending_actions, retention_of,
};

/// Maximum of numbers that one record spans, so that its fold delays other records only briefly.
const EVENTS_MAX: usize = 256;

/// Drops what a record names, as far as it may be dropped.
pub(crate) fn apply_retention(changes: &mut Changes<'_>, retained: &EventsDropped) -> Folded {
    let merchant = &retained.merchant;
    let keeping = RetentionCheck::of(changes, merchant)?;
    let mut dropped = 0_u64;
    let (after, to) = retained.events;
    let events = EVENT_NUMBERS.under(merchant).entries_after(changes, Some(after), EVENTS_MAX)?;
    for (number, id) in events.into_iter().take_while(|(number, _)| *number <= to) {
        let Some(told) = keeping.droppable(changes, (number, &id), retained.horizon)? else {
            continue;
        };
        for granted in ACTION_RESULTS.of_event(merchant, &id).list(changes)? {
            ACTION_RESULTS.remove(changes, &granted.id);
            remove_notes(changes, &granted)?;
        }
        remove_event(changes, &told, (number, retained.horizon))?;
        dropped = dropped.saturating_add(1);
    }
    let mut forgeries = 0_u64;
    for id in &retained.forged {
        let was = remove_unmatched(changes, (merchant, id), retained.horizon)?;
        forgeries = forgeries.saturating_add(u64::from(was));
    }
    for digest in &retained.malformed {
        EVENTS_MALFORMED.remove(changes, (merchant, digest));
    }
    drop_old(changes, retained)?;
    let garbled = u64::try_from(retained.malformed.len()).unwrap_or(u64::MAX);
    change_ledger(changes, merchant, |ledger| {
        ledger.horizon = ledger.horizon.max(Some(retained.horizon));
        ledger.dropped = ledger.dropped.saturating_add(dropped);
        ledger.forgeries_dropped = ledger.forgeries_dropped.saturating_add(forgeries);
        ledger.malformed = ledger.malformed.saturating_sub(garbled);
    })
}

/// Removes an event, and its object unless something about the object is newer than the horizon.
fn remove_event(
    changes: &mut Changes<'_>,
    told: &VerifiedEvent,
    (number, horizon): (u64, DateTime<Utc>),
) -> Folded {
    EVENTS.remove(changes, (&told.merchant, &told.event));
    journal_refs::forget_event(changes, &told.merchant, &told.event)?;
    EVENT_NUMBERS.remove(changes, (&told.merchant, number));
    let Some(object) = &told.object else { return Ok(()) };
    let key = (&told.merchant, object.id.as_str());
    if OBJECTS.get(changes, key)?.is_some_and(|known| known.is_within(horizon)) {
        OBJECTS.remove(changes, key);
    }
    Ok(())
}

/// Removes the notes about an action, unless it went to the service: an event may still arrive.
fn remove_notes(changes: &mut Changes<'_>, granted: &ActionResult) -> Folded {
    let Ok(name) = granted.id.action_name() else { return Ok(()) };
    let key = Action::key(&granted.id.merchant, &name);
    if !OBSERVED.has(changes, &key)? {
        HOOK_DEPTHS.remove(changes, &key);
        DOUBTED_ACTIONS.remove(changes, &key);
    }
    Ok(())
}

/// Removes an expired posted id that matches no event. Returns true if it was removed.
fn remove_unmatched(
    changes: &mut Changes<'_>,
    key: (&Key, &str),
    horizon: DateTime<Utc>,
) -> Folded<bool> {
    let old = |entry: &EventEntry| {
        entry.first <= horizon
            && matches!(entry.status, EventStatus::Forged | EventStatus::OtherMode)
    };
    let was = EVENTS.get(changes, key)?.as_ref().is_some_and(old);
    if was {
        EVENTS.remove(changes, key);
        journal_refs::forget_event(changes, key.0, key.1)?;
        EVENTS_FORGED.remove(changes, key);
        EVENTS_UNMATCHED.remove(changes, key);
    }
    Ok(was)
}

/// Drops the waiting post of an event from before the horizon.
pub(crate) fn drop_lapsed(changes: &mut Changes<'_>, lapsed: &Lapsed) -> Folded {
    let key = (&lapsed.merchant, lapsed.event.as_str());
    let known = EVENTS.get(changes, key)?;
    let Some(page) = known.and_then(|known| known.page) else { return Ok(()) };
    EVENTS.remove(changes, key);
    journal_refs::forget_event(changes, key.0, key.1)?;
    ledger::remove_waiting(changes, (&lapsed.merchant, page), &lapsed.event)?;
    change_ledger(changes, &lapsed.merchant, |ledger| {
        ledger.waiting = ledger.waiting.saturating_sub(1);
        ledger.lapsed = ledger.lapsed.saturating_add(1);
    })
}

/// Drops the actions that a record names, as far as they may be dropped.
pub(crate) fn drop_old(changes: &mut Changes<'_>, retained: &EventsDropped) -> Folded {
    if retained.actions.is_empty() {
        return Ok(());
    }
    let pending = pending_actions(changes)?;
    let mut actions = retained.actions.iter().filter(|(_, action)| !pending.contains(action));
    actions.try_for_each(|(intent, action)| drop_intent(changes, (*intent, action), retained))
}

/// Drops one intent of an action, and with the first one the action itself.
fn drop_intent(
    changes: &mut Changes<'_>,
    (intent, action): (IntentId, &Key),
    retained: &EventsDropped,
) -> Folded {
    if INTENT_POSITIONS.get(changes, intent)?.is_none_or(|promise| promise.key != *action) {
        return Ok(());
    }
    match retention_of(changes, action, retained.at)? {
        ActionRetention::Keep => return Ok(()),
        ActionRetention::Droppable(known) => remove_entries(changes, action, &known)?,
        ActionRetention::Dropped => {}
    }
    INTENT_POSITIONS.remove(changes, intent);
    Ok(())
}

fn remove_entries(changes: &mut Changes<'_>, action: &Key, known: &Observed) -> Folded {
    for number in 0..SEQUENCES.get(changes, action)?.unwrap_or_default().full {
        SEQUENCE_PAGES.remove(changes, (action, number));
    }
    for id in journal_refs::ids_of(known.remote_id.as_ref(), &known.facts) {
        REMOTE.remove(changes, (&id, action));
    }
    remove_mark(changes, action, known)?;
    exposure::forget(changes, action)?;
    SEQUENCES.remove(changes, action);
    HOOK_DEPTHS.remove(changes, action);
    DOUBTED_ACTIONS.remove(changes, action);
    RELEASED.remove(changes, action);
    OBSERVED.remove(changes, action);
    Ok(())
}

/// Removes the mark. The lists that are searched for unknown marks never show what hooks create.
fn remove_mark(changes: &mut Changes<'_>, action: &Key, known: &Observed) -> Folded {
    let Some(bound) = BINDING.get(changes, ())? else { return Ok(()) };
    let generation = known.applied.as_ref().map_or(0, |applied| applied.generation);
    let mark = SourceId::new(&bound.partner, action, generation).mark();
    if MARKS.get(changes, mark.as_str())?.as_ref() == Some(action) {
        MARKS.remove(changes, mark.as_str());
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
    use crate::model::remote_object::{Freshness, RemoteObject};
    use crate::store::index::ordered::{Batch, Index as _, MemoryIndex};
    use crate::store::read_model::model::ReadModel;
    use crate::store::tests::support::fold;

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
