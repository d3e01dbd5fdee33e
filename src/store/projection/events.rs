//! Folds the gateway's events: each counts once, however often it was posted or listed; and the doubt
//! about actions that a lost state may have done for the hooks of earlier events.
//!
//! A post only queues its id for verification. Only an event read from the service changes the
//! observed state of an object, and an older version never does (law 3).
//!
//! The events that a lost state had handled are unknown. A state that was restored from a backup,
//! or that began empty, reads them from the list again. So all events are in doubt until the
//! complete list was read once; events known after that are new. This does not need the service's
//! clock and ours to agree.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::base::fault_injection;
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::kinds::planning::step::MERCHANT;
use crate::model::events::event::{
    EventEntry, EventLedger, EventStatus, ForgedWebhook, PartnerWebhook, Polled, ReceivedWebhook,
    VerifiedEvent, WebhookContent,
};
use crate::model::events::hook::{ActionRequest, HookRun, NOTIFY, RECONCILE, RESUME, SUSPEND};
use crate::model::events::hook_run::{FailedHook, HookRunRecord, PendingAction};
use crate::model::record::Record;
use crate::model::remote_object::{Freshness, RemoteObject};
use crate::store::error::FoldError;
use crate::store::index::ordered::{Batch, Index};
use crate::store::projection::ledger;
use crate::store::projection::ledger::{NewestPage, change_ledger, queue_merchant};
use crate::store::projection::observed::apply_payment;
use crate::store::read_model::events::{
    IGNORED_WEBHOOKS, event_key, forged_key, ledger_key, malformed_key, number_key, object_key,
    unmatched_key,
};
use crate::store::read_model::failed::{HOOKS_FAILED, failed_key};
use crate::store::read_model::hooks::{ACTION_REQUESTS, NEW_EVENTS, doubt_key, new_events_key};
use crate::store::read_model::model::{
    ReadModelError, decode_entry, partner_webhook_key, read, write,
};
use crate::store::vault::key::VaultRef;

/// Stores a webhook of the partner interface, and counts it if it was ignored.
pub(crate) fn partner_webhook(
    index: &dyn Index,
    batch: &mut Batch,
    event: &PartnerWebhook,
) -> Result<(), ReadModelError> {
    if event.ignored.is_some() {
        let before: u64 = read(index, batch, IGNORED_WEBHOOKS)?.unwrap_or_default();
        write(batch, IGNORED_WEBHOOKS, &before.saturating_add(1))?;
    }
    write(batch, &partner_webhook_key(&event.id), event)
}

fn increment(number: &mut u64) {
    *number = number.saturating_add(1);
}

/// Additions of posts to a merchant's ledger.
#[derive(Debug, Default)]
struct PostCounts {
    posts: u64,
    repeated: u64,
    malformed: u64,
    other_mode: u64,
    waiting: u64,
    /// The page that receives the waiting ids.
    pages: Option<NewestPage>,
}

impl PostCounts {
    fn add_to(&self, ledger: &mut EventLedger) {
        for (number, more) in [
            (&mut ledger.posts, self.posts),
            (&mut ledger.repeated, self.repeated),
            (&mut ledger.malformed, self.malformed),
            (&mut ledger.waiting, self.waiting),
            (&mut ledger.other_mode, self.other_mode),
        ] {
            *number = number.saturating_add(more);
        }
    }
}

/// Returns the post of a record, if the record is one.
pub(crate) fn post_in(record: &Record) -> Option<&ReceivedWebhook> {
    if let Record::WebhookReceived(posted) = record { Some(posted) } else { None }
}

/// Folds successive posts. Each merchant's ledger is changed once for all of them.
pub(crate) fn fold_posts<'a>(
    index: &dyn Index,
    batch: &mut Batch,
    posts: impl Iterator<Item = &'a ReceivedWebhook>,
) -> Result<(), ReadModelError> {
    let mut tallies: BTreeMap<&Key, PostCounts> = BTreeMap::new();
    for post in posts {
        let tally = tallies.entry(&post.merchant).or_default();
        increment(&mut tally.posts);
        match &post.what {
            WebhookContent::Malformed(digest) => {
                count_malformed(index, batch, tally, (post, digest))?;
            }
            WebhookContent::OtherMode(id) => {
                count_posted_id(index, batch, tally, (post, id, false))?;
            }
            WebhookContent::Event(id) => count_posted_id(index, batch, tally, (post, id, true))?,
        }
    }
    tallies.into_iter().try_for_each(|(merchant, tally)| {
        tally.pages.iter().try_for_each(|pages| pages.write(batch))?;
        change_ledger(index, batch, merchant, |ledger| tally.add_to(ledger))
    })
}

/// Counts a malformed body.
fn count_malformed(
    index: &dyn Index,
    batch: &mut Batch,
    tally: &mut PostCounts,
    (post, digest): (&ReceivedWebhook, &Digest),
) -> Result<(), ReadModelError> {
    let key = malformed_key(&post.merchant, digest);
    let again = batch.get(index, &key)?.is_some();
    increment(if again { &mut tally.repeated } else { &mut tally.malformed });
    write(batch, &key, &post.at)
}

/// Counts a posted id. An id of the merchant's own mode then waits to be verified.
fn count_posted_id(
    index: &dyn Index,
    batch: &mut Batch,
    tally: &mut PostCounts,
    (post, id, own): (&ReceivedWebhook, &str, bool),
) -> Result<(), ReadModelError> {
    let merchant = &post.merchant;
    let key = event_key(merchant, id);
    let known: Option<EventEntry> = read(index, batch, &key)?;
    let again = known.is_some();
    let (posted, stands) = (vault_name(post), EventStatus::OtherMode);
    let fresh = EventEntry { posts: 0, first: post.at, posted, status: stands, page: None };
    let mut entry = known.unwrap_or(fresh);
    entry.posts = entry.posts.saturating_add(1);
    let begins = own && entry.status == EventStatus::OtherMode;
    if begins {
        let pages = match tally.pages.take() {
            Some(pages) => pages,
            None => NewestPage::open(index, batch, merchant)?,
        };
        entry.page = Some(tally.pages.insert(pages).add(batch, id)?);
        entry.status = EventStatus::Waiting;
        batch.remove(unmatched_key(merchant, id));
    } else if entry.status == EventStatus::OtherMode {
        write(batch, &unmatched_key(merchant, id), &entry.first)?;
    }
    tally.repeated = tally.repeated.saturating_add(u64::from(again));
    tally.waiting = tally.waiting.saturating_add(u64::from(begins));
    tally.other_mode = tally.other_mode.saturating_add(u64::from(!again && !own));
    write(batch, &key, &entry)
}

/// Returns the vault's name of a body. A body that lies in the journal's record stays there: no
/// reader needs it, and every post would lengthen the index by it.
fn vault_name(posted: &ReceivedWebhook) -> Option<String> {
    let named =
        posted.body.parse::<VaultRef>().is_ok() || fault_injection::is_active("read-back-skipped");
    named.then(|| posted.body.clone())
}

/// Folds a verified event. The event counts once; a second time is an internal error.
pub(crate) fn fold_verified(
    index: &dyn Index,
    batch: &mut Batch,
    told: &VerifiedEvent,
) -> Result<(), FoldError> {
    let merchant = &told.merchant;
    let key = event_key(merchant, &told.event);
    let known: Option<EventEntry> = read(index, batch, &key)?;
    if known.as_ref().is_some_and(|known| matches!(known.status, EventStatus::Verified(_))) {
        let detail = format!("the event {} of {} is taken in twice", told.event, merchant.short());
        return Err(FoldError::Law { law: 5, detail });
    }
    let page = known.as_ref().and_then(|known| known.page);
    let was_forged = known.as_ref().is_some_and(|known| known.status == EventStatus::Forged);
    let stands = EventStatus::Verified(Box::new(told.clone()));
    let heard = known.map_or((0, told.at), |known| (known.posts, known.first));
    let (posts, first) = heard;
    write(batch, &key, &EventEntry { posts, first, posted: None, status: stands, page: None })?;
    if let Some(page) = page {
        ledger::remove_waiting(index, batch, (merchant, page), &told.event)?;
    }
    batch.remove(forged_key(merchant, &told.event));
    batch.remove(unmatched_key(merchant, &told.event));
    update_object(index, batch, told)?;
    apply_payment(index, batch, told)?;
    let mut number = 0;
    change_ledger(index, batch, merchant, |ledger| {
        increment(&mut ledger.verified);
        number = ledger.verified;
        ledger.missed = ledger.missed.saturating_add(u64::from(posts == 0));
        ledger.stale = ledger.stale.saturating_add(u64::from(told.freshness == Freshness::Older));
        ledger.waiting = ledger.waiting.saturating_sub(u64::from(page.is_some()));
        ledger.forged = ledger.forged.saturating_sub(u64::from(was_forged));
        ledger.newest = ledger.newest.max(Some(told.created));
    })?;
    queue_merchant(batch, merchant);
    Ok(write(batch, &number_key(merchant, number), &told.event)?)
}

/// Updates the entry of an event's object: a newer version replaces it (law 3), and any event about
/// the object advances its last event time.
fn update_object(
    index: &dyn Index,
    batch: &mut Batch,
    told: &VerifiedEvent,
) -> Result<(), FoldError> {
    let Some(object) = &told.object else { return Ok(()) };
    let key = object_key(&told.merchant, &object.id);
    let known: Option<RemoteObject> = read(index, batch, &key)?;
    let is_news = told.freshness == Freshness::Newer;
    let older = object.freshness(known.as_ref()) == Freshness::Older;
    if is_news && older && !fault_injection::is_active("stale-event-applied") {
        let detail = format!("an older version of {} takes the place of a newer one", object.id);
        return Err(FoldError::Law { law: 3, detail });
    }
    let Some(newest) = (if is_news { Some(object) } else { known.as_ref() }) else { return Ok(()) };
    let after = newest.clone().into_index_entry(known.as_ref(), told.created);
    if known.as_ref() == Some(&after) { Ok(()) } else { Ok(write(batch, &key, &after)?) }
}

/// Marks a posted event that the service does not have.
pub(crate) fn mark_forged(
    index: &dyn Index,
    batch: &mut Batch,
    forged: &ForgedWebhook,
) -> Result<(), ReadModelError> {
    let key = event_key(&forged.merchant, &forged.event);
    let known: Option<EventEntry> = read(index, batch, &key)?;
    let Some((page, entry)) = known.and_then(|known| Some((known.page?, known))) else {
        return Ok(());
    };
    write(batch, &unmatched_key(&forged.merchant, &forged.event), &entry.first)?;
    write(batch, &key, &EventEntry { status: EventStatus::Forged, page: None, ..entry })?;
    ledger::remove_waiting(index, batch, (&forged.merchant, page), &forged.event)?;
    batch.put(forged_key(&forged.merchant, &forged.event), Vec::new());
    change_ledger(index, batch, &forged.merchant, |ledger| {
        increment(&mut ledger.forged);
        ledger.waiting = ledger.waiting.saturating_sub(1);
    })
}

/// Records how far the list of events was read; these times never go back.
pub(crate) fn note_polled(
    index: &dyn Index,
    batch: &mut Batch,
    polled: &Polled,
) -> Result<(), ReadModelError> {
    let later = |known: Option<DateTime<Utc>>, now| known.max(Some(now));
    change_ledger(index, batch, &polled.merchant, |ledger| {
        ledger.polled_to = later(ledger.polled_to, polled.to);
        ledger.polled_at = later(ledger.polled_at, polled.at);
    })?;
    note_list_read(index, batch, polled)
}

/// Returns true if a lost state may have run the hooks of this event. The partner's webhooks are in
/// no list, and are not delivered again once they were accepted.
pub(crate) fn is_doubted(
    index: &dyn Index,
    batch: &Batch,
    ran: &HookRunRecord,
) -> Result<bool, ReadModelError> {
    if ran.is_retry {
        let scripts = ran.runs.iter().map(|run| &run.script);
        for script in scripts.chain(ran.failures.iter().map(|failed| &failed.script)) {
            let key = failed_key(&ran.merchant, &ran.event, script);
            let known: Option<FailedHook> = read(index, batch, &key)?;
            if known.is_some_and(|known| known.maybe_ran) {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    Ok(!new_events(index, batch, &ran.merchant)?.covers(ran.number))
}

/// Events of a merchant whose hooks no lost state can have run: those behind this number, if any;
/// all events, if they are in no list.
pub(crate) struct NewEvents {
    listed: bool,
    from: Option<u64>,
}

impl NewEvents {
    /// Returns true if no lost state can have run the hooks of the event with this number.
    pub(crate) fn covers(&self, number: u64) -> bool {
        !self.listed || self.from.is_some_and(|from| number > from)
    }
}

/// Returns the events of a merchant that are certainly new.
pub(crate) fn new_events(
    index: &dyn Index,
    batch: &Batch,
    merchant: &Key,
) -> Result<NewEvents, ReadModelError> {
    let from = read(index, batch, &new_events_key(merchant))?;
    Ok(NewEvents { listed: merchant.kind.as_str() == MERCHANT, from })
}

/// Returns true if the service cannot show whether an action was done. Such an action notifies a
/// person, or its name is made from its content, which may come from what the run read.
pub(crate) fn is_unprovable(run: &HookRun, wish: &ActionRequest) -> bool {
    match wish.verb.as_str() {
        NOTIFY => true,
        SUSPEND | RESUME | RECONCILE => false,
        _ => !run.reads.is_empty() && wish.is_named_by_content(),
    }
}

/// Makes the effect of this action be looked up before it is sent.
pub(crate) fn mark_doubted(batch: &mut Batch, pending: &PendingAction) {
    if let Ok(action) = pending.action() {
        batch.put(doubt_key(&action), Vec::new());
    }
}

/// Marks later events as new, if the list of events was read to its end.
pub(crate) fn note_list_read(
    index: &dyn Index,
    batch: &mut Batch,
    polled: &Polled,
) -> Result<(), ReadModelError> {
    let key = new_events_key(&polled.merchant);
    if !polled.whole || batch.get(index, &key)?.is_some() {
        return Ok(());
    }
    let ledger: Option<EventLedger> = read(index, batch, &ledger_key(&polled.merchant))?;
    write(batch, &key, &ledger.unwrap_or_default().verified)
}

/// Handles a restored backup: pending action requests may be done already, and no event is
/// certainly new.
pub(crate) fn doubt_pending(index: &dyn Index, batch: &mut Batch) -> Result<(), ReadModelError> {
    for (key, _) in batch.scan(index, NEW_EVENTS)? {
        batch.remove(key);
    }
    for (key, value) in batch.scan(index, ACTION_REQUESTS)? {
        let mut pending: PendingAction = decode_entry(&key, &value)?;
        // The action's name is fixed, so its effect can be found, if the service shows it.
        pending.maybe_done |= pending.request.verb == NOTIFY;
        mark_doubted(batch, &pending);
        write(batch, &key, &pending)?;
    }
    for (key, value) in batch.scan(index, HOOKS_FAILED)? {
        let mut failed: FailedHook = decode_entry(&key, &value)?;
        failed.maybe_ran = true;
        write(batch, &key, &failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
