//! The gateway's events in the index: each counted once, however often it was posted or listed.
//!
//! What a post says changes nothing but that its id waits to be read; only what the service showed changes what is
//! known of an object, and an older version never does (law 3).

use chrono::{DateTime, Utc};

use super::{FoldError, hooks};
use crate::base::id::Key;
use crate::base::planted;
use crate::model::event::{
    EventEntry, EventLedger, EventStands, Forged, Polled, Posted, PostedWhat, Told,
};
use crate::model::remote_object::{RemoteObject, Standing};
use crate::store::facts::{
    FactError, event_key, forged_key, garbled_key, ledger_key, number_key, object_key, read,
    waiting_key, write,
};
use crate::store::index::{Batch, Index};
use crate::store::vault::VaultRef;

/// A merchant's ledger, changed and written back.
pub(super) fn count(
    index: &dyn Index,
    batch: &mut Batch,
    merchant: &Key,
    change: impl FnOnce(&mut EventLedger),
) -> Result<(), FactError> {
    let key = ledger_key(merchant);
    let mut ledger: EventLedger = read(index, batch, &key)?.unwrap_or_default();
    change(&mut ledger);
    write(batch, &key, &ledger)
}

fn one_more(number: &mut u64) {
    *number = number.saturating_add(1);
}

/// Something was posted.
pub(super) fn posted(
    index: &dyn Index,
    batch: &mut Batch,
    posted: &Posted,
) -> Result<(), FactError> {
    let merchant = &posted.merchant;
    let (id, stands) = match &posted.what {
        PostedWhat::Garbled(digest) => {
            let key = garbled_key(merchant, digest);
            let again = batch.get(index, &key)?.is_some();
            write(batch, &key, &named(posted))?;
            return count(index, batch, merchant, |ledger| {
                one_more(&mut ledger.posts);
                one_more(if again { &mut ledger.repeated } else { &mut ledger.garbled });
            });
        }
        PostedWhat::OtherMode(id) => (id, EventStands::OtherMode),
        PostedWhat::Event(id) => (id, EventStands::Waiting),
    };
    let key = event_key(merchant, id);
    let known: Option<EventEntry> = read(index, batch, &key)?;
    let again = known.is_some();
    let body = named(posted);
    let fresh = EventEntry { posts: 0, first: posted.at, posted: body, stands: stands.clone() };
    let mut entry = known.unwrap_or(fresh);
    entry.posts = entry.posts.saturating_add(1);
    let waits =
        stands == EventStands::Waiting && (!again || entry.stands == EventStands::OtherMode);
    if waits {
        entry.stands = stands;
        batch.put(waiting_key(merchant, id), Vec::new());
    }
    let other = !again && entry.stands == EventStands::OtherMode;
    write(batch, &key, &entry)?;
    count(index, batch, merchant, |ledger| {
        one_more(&mut ledger.posts);
        if again {
            one_more(&mut ledger.repeated);
        }
        ledger.waiting = ledger.waiting.saturating_add(u64::from(waits));
        ledger.other_mode = ledger.other_mode.saturating_add(u64::from(other));
    })
}

/// The vault's name of a body. One that stands in the journal's record stays there: nothing is done with it, and every
/// post would make the index longer by it.
fn named(posted: &Posted) -> Option<String> {
    let named = posted.body.parse::<VaultRef>().is_ok() || planted::is("read-back-skipped");
    named.then(|| posted.body.clone())
}

/// The service showed an event. It counts once: a second time is our own mistake.
pub(super) fn told(index: &dyn Index, batch: &mut Batch, told: &Told) -> Result<(), FoldError> {
    let merchant = &told.merchant;
    let key = event_key(merchant, &told.event);
    let known: Option<EventEntry> = read(index, batch, &key)?;
    if known.as_ref().is_some_and(|known| matches!(known.stands, EventStands::Told(_))) {
        let detail = format!("the event {} of {} is taken in twice", told.event, merchant.short());
        return Err(FoldError::Law { law: 5, detail });
    }
    let waited = known.as_ref().is_some_and(|known| known.stands == EventStands::Waiting);
    let was_forged = known.as_ref().is_some_and(|known| known.stands == EventStands::Forged);
    let stands = EventStands::Told(Box::new(told.clone()));
    let unheard = EventEntry { posts: 0, first: told.at, posted: None, stands: stands.clone() };
    let entry = EventEntry { stands, posted: None, ..known.unwrap_or(unheard) };
    let posts = entry.posts;
    write(batch, &key, &entry)?;
    batch.remove(waiting_key(merchant, &told.event));
    batch.remove(forged_key(merchant, &told.event));
    newest(index, batch, told)?;
    let mut number = 0;
    count(index, batch, merchant, |ledger| {
        one_more(&mut ledger.told);
        number = ledger.told;
        ledger.missed = ledger.missed.saturating_add(u64::from(posts == 0));
        ledger.stale = ledger.stale.saturating_add(u64::from(told.standing == Standing::Stale));
        ledger.waiting = ledger.waiting.saturating_sub(u64::from(waited));
        ledger.forged = ledger.forged.saturating_sub(u64::from(was_forged));
        ledger.newest = ledger.newest.max(Some(told.created));
    })?;
    hooks::to_run(batch, merchant);
    Ok(write(batch, &number_key(merchant, number), &told.event)?)
}

/// What an event says of its object, where that is news.
fn newest(index: &dyn Index, batch: &mut Batch, told: &Told) -> Result<(), FoldError> {
    let Some(object) = told.object.as_ref().filter(|_| told.standing == Standing::News) else {
        return Ok(());
    };
    let key = object_key(&told.merchant, &object.id);
    let known: Option<RemoteObject> = read(index, batch, &key)?;
    let older = object.beside(known.as_ref()) == Standing::Stale;
    if older && !planted::is("stale-event-applied") {
        let detail = format!("an older version of {} takes the place of a newer one", object.id);
        return Err(FoldError::Law { law: 3, detail });
    }
    Ok(write(batch, &key, object)?)
}

/// The service does not have an event that was posted.
pub(super) fn forged(
    index: &dyn Index,
    batch: &mut Batch,
    forged: &Forged,
) -> Result<(), FactError> {
    let key = event_key(&forged.merchant, &forged.event);
    let known: Option<EventEntry> = read(index, batch, &key)?;
    let Some(entry) = known.filter(|known| known.stands == EventStands::Waiting) else {
        return Ok(());
    };
    write(batch, &key, &EventEntry { stands: EventStands::Forged, ..entry })?;
    batch.remove(waiting_key(&forged.merchant, &forged.event));
    batch.put(forged_key(&forged.merchant, &forged.event), Vec::new());
    count(index, batch, &forged.merchant, |ledger| {
        one_more(&mut ledger.forged);
        ledger.waiting = ledger.waiting.saturating_sub(1);
    })
}

/// The list was read up to a moment: it never goes back.
pub(super) fn polled(
    index: &dyn Index,
    batch: &mut Batch,
    polled: &Polled,
) -> Result<(), FactError> {
    let later = |known: Option<DateTime<Utc>>, now| known.max(Some(now));
    count(index, batch, &polled.merchant, |ledger| {
        ledger.polled_to = later(ledger.polled_to, polled.to);
        ledger.polled_at = later(ledger.polled_at, polled.at);
    })?;
    hooks::doubt::listed(index, batch, polled)
}
