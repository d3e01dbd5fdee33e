//! Folds the gateway's events: each counts once, however often it was posted or listed.
//!
//! A post only queues its id for verification. Only an event read from the service changes the
//! observed state of an object, and an older version never does (law 3).

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::waiting::{self, Pages};
use super::{FoldError, hooks, payments};
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::base::planted;
use crate::model::event::{
    EventEntry, EventLedger, EventStands, Forged, Polled, Posted, PostedWhat, Told,
};
use crate::model::inbox::InboxEvent;
use crate::model::record::Record;
use crate::model::remote_object::{RemoteObject, Standing};
use crate::store::facts::{
    FactError, NOTICES_IGNORED, event_key, forged_key, garbled_key, inbox_key, ledger_key,
    number_key, object_key, read, stranger_key, write,
};
use crate::store::index::{Batch, Index};
use crate::store::vault::VaultRef;

/// Stores a webhook of the partner interface, and counts it if it was ignored.
pub(super) fn notice(
    index: &dyn Index,
    batch: &mut Batch,
    event: &InboxEvent,
) -> Result<(), FactError> {
    if event.ignored.is_some() {
        let before: u64 = read(index, batch, NOTICES_IGNORED)?.unwrap_or_default();
        write(batch, NOTICES_IGNORED, &before.saturating_add(1))?;
    }
    write(batch, &inbox_key(&event.id), event)
}

/// Changes a merchant's ledger and writes it back.
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

/// Additions of posts to a merchant's ledger.
#[derive(Debug, Default)]
struct Tally {
    posts: u64,
    repeated: u64,
    garbled: u64,
    other_mode: u64,
    waiting: u64,
    /// The page that receives the waiting ids.
    pages: Option<Pages>,
}

impl Tally {
    fn onto(&self, ledger: &mut EventLedger) {
        for (number, more) in [
            (&mut ledger.posts, self.posts),
            (&mut ledger.repeated, self.repeated),
            (&mut ledger.garbled, self.garbled),
            (&mut ledger.waiting, self.waiting),
            (&mut ledger.other_mode, self.other_mode),
        ] {
            *number = number.saturating_add(more);
        }
    }
}

/// Returns the post of a record, if the record is one.
pub(super) fn post_in(record: &Record) -> Option<&Posted> {
    if let Record::Posted(posted) = record { Some(posted) } else { None }
}

/// Folds successive posts. Each merchant's ledger is changed once for all of them.
pub(super) fn posted<'a>(
    index: &dyn Index,
    batch: &mut Batch,
    posts: impl Iterator<Item = &'a Posted>,
) -> Result<(), FactError> {
    let mut tallies: BTreeMap<&Key, Tally> = BTreeMap::new();
    for post in posts {
        let tally = tallies.entry(&post.merchant).or_default();
        one_more(&mut tally.posts);
        match &post.what {
            PostedWhat::Garbled(digest) => garbled(index, batch, tally, (post, digest))?,
            PostedWhat::OtherMode(id) => noted(index, batch, tally, (post, id, false))?,
            PostedWhat::Event(id) => noted(index, batch, tally, (post, id, true))?,
        }
    }
    tallies.into_iter().try_for_each(|(merchant, tally)| {
        tally.pages.iter().try_for_each(|pages| pages.write(batch))?;
        count(index, batch, merchant, |ledger| tally.onto(ledger))
    })
}

/// Counts a malformed body.
fn garbled(
    index: &dyn Index,
    batch: &mut Batch,
    tally: &mut Tally,
    (post, digest): (&Posted, &Digest),
) -> Result<(), FactError> {
    let key = garbled_key(&post.merchant, digest);
    let again = batch.get(index, &key)?.is_some();
    one_more(if again { &mut tally.repeated } else { &mut tally.garbled });
    write(batch, &key, &post.at)
}

/// Counts a posted id. An id of the merchant's own mode then waits to be verified.
fn noted(
    index: &dyn Index,
    batch: &mut Batch,
    tally: &mut Tally,
    (post, id, own): (&Posted, &str, bool),
) -> Result<(), FactError> {
    let merchant = &post.merchant;
    let key = event_key(merchant, id);
    let known: Option<EventEntry> = read(index, batch, &key)?;
    let again = known.is_some();
    let (posted, stands) = (named(post), EventStands::OtherMode);
    let fresh = EventEntry { posts: 0, first: post.at, posted, stands, page: None };
    let mut entry = known.unwrap_or(fresh);
    entry.posts = entry.posts.saturating_add(1);
    let begins = own && entry.stands == EventStands::OtherMode;
    if begins {
        let pages = match tally.pages.take() {
            Some(pages) => pages,
            None => Pages::open(index, batch, merchant)?,
        };
        entry.page = Some(tally.pages.insert(pages).add(batch, id)?);
        entry.stands = EventStands::Waiting;
        batch.remove(stranger_key(merchant, id));
    } else if entry.stands == EventStands::OtherMode {
        write(batch, &stranger_key(merchant, id), &entry.first)?;
    }
    tally.repeated = tally.repeated.saturating_add(u64::from(again));
    tally.waiting = tally.waiting.saturating_add(u64::from(begins));
    tally.other_mode = tally.other_mode.saturating_add(u64::from(!again && !own));
    write(batch, &key, &entry)
}

/// Returns the vault's name of a body. A body that lies in the journal's record stays there: no
/// reader needs it, and every post would lengthen the index by it.
fn named(posted: &Posted) -> Option<String> {
    let named = posted.body.parse::<VaultRef>().is_ok() || planted::is("read-back-skipped");
    named.then(|| posted.body.clone())
}

/// Folds a verified event. The event counts once; a second time is an internal error.
pub(super) fn told(index: &dyn Index, batch: &mut Batch, told: &Told) -> Result<(), FoldError> {
    let merchant = &told.merchant;
    let key = event_key(merchant, &told.event);
    let known: Option<EventEntry> = read(index, batch, &key)?;
    if known.as_ref().is_some_and(|known| matches!(known.stands, EventStands::Told(_))) {
        let detail = format!("the event {} of {} is taken in twice", told.event, merchant.short());
        return Err(FoldError::Law { law: 5, detail });
    }
    let page = known.as_ref().and_then(|known| known.page);
    let was_forged = known.as_ref().is_some_and(|known| known.stands == EventStands::Forged);
    let stands = EventStands::Told(Box::new(told.clone()));
    let heard = known.map_or((0, told.at), |known| (known.posts, known.first));
    let (posts, first) = heard;
    write(batch, &key, &EventEntry { posts, first, posted: None, stands, page: None })?;
    if let Some(page) = page {
        waiting::remove(index, batch, (merchant, page), &told.event)?;
    }
    batch.remove(forged_key(merchant, &told.event));
    batch.remove(stranger_key(merchant, &told.event));
    newest(index, batch, told)?;
    payments::told(index, batch, told)?;
    let mut number = 0;
    count(index, batch, merchant, |ledger| {
        one_more(&mut ledger.told);
        number = ledger.told;
        ledger.missed = ledger.missed.saturating_add(u64::from(posts == 0));
        ledger.stale = ledger.stale.saturating_add(u64::from(told.standing == Standing::Stale));
        ledger.waiting = ledger.waiting.saturating_sub(u64::from(page.is_some()));
        ledger.forged = ledger.forged.saturating_sub(u64::from(was_forged));
        ledger.newest = ledger.newest.max(Some(told.created));
    })?;
    hooks::to_run(batch, merchant);
    Ok(write(batch, &number_key(merchant, number), &told.event)?)
}

/// Updates the entry of an event's object: a newer version replaces it (law 3), and any event about
/// the object advances its last event time.
fn newest(index: &dyn Index, batch: &mut Batch, told: &Told) -> Result<(), FoldError> {
    let Some(object) = &told.object else { return Ok(()) };
    let key = object_key(&told.merchant, &object.id);
    let known: Option<RemoteObject> = read(index, batch, &key)?;
    let is_news = told.standing == Standing::News;
    let older = object.beside(known.as_ref()) == Standing::Stale;
    if is_news && older && !planted::is("stale-event-applied") {
        let detail = format!("an older version of {} takes the place of a newer one", object.id);
        return Err(FoldError::Law { law: 3, detail });
    }
    let Some(newest) = (if is_news { Some(object) } else { known.as_ref() }) else { return Ok(()) };
    let after = newest.clone().known(known.as_ref(), told.created);
    if known.as_ref() == Some(&after) { Ok(()) } else { Ok(write(batch, &key, &after)?) }
}

/// Marks a posted event that the service does not have.
pub(super) fn forged(
    index: &dyn Index,
    batch: &mut Batch,
    forged: &Forged,
) -> Result<(), FactError> {
    let key = event_key(&forged.merchant, &forged.event);
    let known: Option<EventEntry> = read(index, batch, &key)?;
    let Some((page, entry)) = known.and_then(|known| Some((known.page?, known))) else {
        return Ok(());
    };
    write(batch, &stranger_key(&forged.merchant, &forged.event), &entry.first)?;
    write(batch, &key, &EventEntry { stands: EventStands::Forged, page: None, ..entry })?;
    waiting::remove(index, batch, (&forged.merchant, page), &forged.event)?;
    batch.put(forged_key(&forged.merchant, &forged.event), Vec::new());
    count(index, batch, &forged.merchant, |ledger| {
        one_more(&mut ledger.forged);
        ledger.waiting = ledger.waiting.saturating_sub(1);
    })
}

/// Records how far the list of events was read; these times never go back.
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
