//! Retention in the index: events that are settled and older than the horizon are gone, with all that hung on them.
//!
//! Guarantees: an event is kept while a hook of it is to be run or failed, an action of it is open or not seen by a
//! person, or a payment of a resource that it is about is under way. Actions that went to the service keep their own
//! entries, their names, marks and intents, until the service answers to nothing about them any more.

use chrono::{DateTime, Utc};

use super::events::count;
use super::{old_actions, waiting};
use crate::base::id::Key;
use crate::model::action::Action;
use crate::model::event::{EventEntry, EventLedger, EventStands, Told};
use crate::model::ran::{Granted, WishId};
use crate::model::remote_object::RemoteObject;
use crate::model::retained::{Lapsed, Retained};
use crate::store::facts::{
    FactError, Keeping, decode_entry, depth_key, doubt_key, event_key, forged_key, garbled_key,
    number_key, numbers_of, object_key, observed_key, read, stranger_key,
};
use crate::store::index::{Batch, Index};

/// The numbers that one record spans at most: nobody waits long for its fold.
const EVENTS_MAX: usize = 256;

/// Drops what a record names, as far as it may be dropped.
pub(super) fn retained(
    index: &dyn Index,
    batch: &mut Batch,
    retained: &Retained,
) -> Result<(), FactError> {
    let merchant = &retained.merchant;
    let keeping = Keeping::of(index, batch, merchant)?;
    let mut dropped = 0_u64;
    let (after, to) = retained.events;
    for (number, id) in numbered(index, batch, merchant, (after, to))? {
        let (number, id) = (&number, &id);
        let event = (*number, id.as_str());
        let Some(told) = keeping.droppable(index, batch, event, retained.horizon)? else {
            continue;
        };
        for (key, granted) in keeping.settled(index, batch, id)? {
            batch.remove(key);
            action(index, batch, &granted)?;
        }
        event_gone(index, batch, &told, (*number, retained.horizon))?;
        dropped = dropped.saturating_add(1);
    }
    let mut forgeries = 0_u64;
    for id in &retained.forged {
        let was = stranger(index, batch, (merchant, id), retained.horizon)?;
        forgeries = forgeries.saturating_add(u64::from(was));
    }
    for digest in &retained.garbled {
        batch.remove(garbled_key(merchant, digest));
    }
    old_actions::dropped(index, batch, retained)?;
    let garbled = u64::try_from(retained.garbled.len()).unwrap_or(u64::MAX);
    count(index, batch, merchant, |ledger: &mut EventLedger| {
        ledger.horizon = ledger.horizon.max(Some(retained.horizon));
        ledger.dropped = ledger.dropped.saturating_add(dropped);
        ledger.forgeries_dropped = ledger.forgeries_dropped.saturating_add(forgeries);
        ledger.garbled = ledger.garbled.saturating_sub(garbled);
    })
}

/// Removes an event and what is known of its object, where nothing about that is newer than the horizon either.
fn event_gone(
    index: &dyn Index,
    batch: &mut Batch,
    told: &Told,
    (number, horizon): (u64, DateTime<Utc>),
) -> Result<(), FactError> {
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

/// Removes what is noted of an action, unless it went to the service: then an event of it may still come.
fn action(index: &dyn Index, batch: &mut Batch, granted: &Granted) -> Result<(), FactError> {
    let WishId { merchant, .. } = &granted.id;
    let Ok(name) = granted.id.action_name() else { return Ok(()) };
    let key = Action::key(merchant, &name);
    if batch.get(index, &observed_key(&key))?.is_none() {
        batch.remove(depth_key(&key));
        batch.remove(doubt_key(&key));
    }
    Ok(())
}

/// Removes a posted id that no event bears. Returns whether it was there.
fn stranger(
    index: &dyn Index,
    batch: &mut Batch,
    (merchant, id): (&Key, &str),
    horizon: DateTime<Utc>,
) -> Result<bool, FactError> {
    let key = event_key(merchant, id);
    let entry: Option<EventEntry> = read(index, batch, &key)?;
    let old = |entry: &EventEntry| {
        entry.first <= horizon
            && matches!(entry.stands, EventStands::Forged | EventStands::OtherMode)
    };
    let was = entry.as_ref().is_some_and(old);
    if was {
        batch.remove(key);
        batch.remove(forged_key(merchant, id));
        batch.remove(stranger_key(merchant, id));
    }
    Ok(was)
}

/// A post of an event from before the horizon waits no longer.
pub(super) fn lapsed(
    index: &dyn Index,
    batch: &mut Batch,
    lapsed: &Lapsed,
) -> Result<(), FactError> {
    let key = event_key(&lapsed.merchant, &lapsed.event);
    let known: Option<EventEntry> = read(index, batch, &key)?;
    let Some(page) = known.and_then(|known| known.page) else { return Ok(()) };
    batch.remove(key);
    waiting::remove(index, batch, (&lapsed.merchant, page), &lapsed.event)?;
    count(index, batch, &lapsed.merchant, |ledger| {
        ledger.waiting = ledger.waiting.saturating_sub(1);
        ledger.lapsed = ledger.lapsed.saturating_add(1);
    })
}

/// The numbers and ids of the events behind the first number and up to the last one.
fn numbered(
    index: &dyn Index,
    batch: &Batch,
    merchant: &Key,
    (after, to): (u64, u64),
) -> Result<Vec<(u64, String)>, FactError> {
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::event::Via;
    use crate::model::ran::Passed;
    use crate::model::record::Record;
    use crate::model::remote_object::Standing;
    use crate::store::facts::Facts;
    use crate::store::fold::fold;
    use crate::store::index::MemoryIndex;

    fn day(day: u32) -> DateTime<Utc> {
        format!("2026-11-{day:02}T12:00:00Z").parse().unwrap()
    }

    fn merchant() -> Key {
        "Merchant/acme".parse().unwrap()
    }

    /// An event of this day about a payment that the service dates on the first day.
    fn event(number: u64, of: u32, standing: Standing) -> Record {
        let data = serde_json::json!({"id": "t1", "status": "COMPLETED", "amount": 100,
            "modified": "2026-11-01T12:00:00.000Z"});
        let kind = "transaction.updated".to_owned();
        Record::Told(Box::new(Told {
            merchant: merchant(),
            event: format!("e{number}"),
            object: RemoteObject::of(&kind, &data, day(of)),
            kind,
            created: day(of),
            via: Via::Poll,
            body: "vault".to_owned(),
            standing,
            previous: None,
            about: Vec::new(),
            quiet: false,
            at: day(of),
        }))
    }

    /// The newest version of an object is known as long as its newest event is, although the service dates the object
    /// itself before the horizon: an older event that comes late would be news otherwise.
    #[test]
    fn an_object_is_known_as_long_as_an_event_of_it_is() {
        let index = Arc::new(MemoryIndex::new());
        let facts = Facts::new(index.clone());
        let take = |record: &Record| {
            let mut batch = Batch::new();
            fold(&*index, &mut batch, record).unwrap();
            index.apply(batch).unwrap();
        };
        take(&event(1, 1, Standing::News));
        take(&event(2, 9, Standing::Same));
        let (script, held) = (None, Vec::new());
        take(&Record::Passed(Box::new(Passed { merchant: merchant(), to: 2, script, held })));
        for (horizon, events, is_known) in [(5, 1, true), (20, 0, false)] {
            take(&Record::Retained(Box::new(Retained {
                merchant: merchant(),
                horizon: day(horizon),
                events: (0, 2),
                forged: Vec::new(),
                garbled: Vec::new(),
                actions: Vec::new(),
                at: day(25),
            })));
            assert_eq!(facts.events_after(&merchant(), 0, 9).unwrap().len(), events);
            let known = facts.remote_object(&merchant(), "t1").unwrap();
            assert_eq!(known.is_some(), is_known, "day {horizon}");
        }
    }
}
