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
use std::collections::btree_map::Entry;

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
use crate::model::events::hook_run::{HookRunRecord, PendingAction};
use crate::model::record::Record;
use crate::model::remote_object::Freshness;
use crate::model::state::health::PaymentResult;
use crate::store::error::{Folded, law};
use crate::store::projection::ledger::{self, NewestPage, change_ledger};
use crate::store::projection::observed::apply_payment;
use crate::store::read_model::hooks::{
    ACTION_REQUESTS, DOUBTED_ACTIONS, EVENTS_TO_RUN, HOOKS_FAILED, NEW_EVENTS, failed_run_key,
};
use crate::store::read_model::model::{Changes, Entries};
use crate::store::read_model::resources::{
    EVENT_LEDGERS, EVENT_NUMBERS, EVENTS, EVENTS_FORGED, EVENTS_MALFORMED, EVENTS_UNMATCHED,
    IGNORED_WEBHOOKS, OBJECTS, PARTNER_WEBHOOKS,
};
use crate::store::vault::key::VaultRef;

/// Stores a webhook of the partner interface, and counts it if it was ignored.
pub(crate) fn partner_webhook(changes: &mut Changes<'_>, event: &PartnerWebhook) -> Folded {
    if event.ignored.is_some() {
        let before = IGNORED_WEBHOOKS.get(changes, ())?.unwrap_or_default();
        IGNORED_WEBHOOKS.put(changes, (), &before.saturating_add(1))?;
    }
    Ok(PARTNER_WEBHOOKS.put(changes, &event.id, event)?)
}

fn increment(number: &mut u64) {
    *number = number.saturating_add(1);
}

/// The ledger of a merchant while its posts are folded.
#[derive(Debug)]
struct PostedLedger {
    ledger: EventLedger,
    /// The page that receives the waiting ids.
    pages: Option<NewestPage>,
}

pub(crate) fn post_in(record: &Record) -> Option<&ReceivedWebhook> {
    if let Record::WebhookReceived(posted) = record { Some(posted) } else { None }
}

/// Folds successive posts. Each merchant's ledger is changed once for all of them.
pub(crate) fn fold_posts<'a>(
    changes: &mut Changes<'_>,
    posts: impl Iterator<Item = &'a ReceivedWebhook>,
) -> Folded {
    let mut ledgers: BTreeMap<&Key, PostedLedger> = BTreeMap::new();
    for post in posts {
        let posted = match ledgers.entry(&post.merchant) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let ledger = EVENT_LEDGERS.get(changes, &post.merchant)?.unwrap_or_default();
                new.insert(PostedLedger { ledger, pages: None })
            }
        };
        increment(&mut posted.ledger.posts);
        match &post.what {
            WebhookContent::Malformed(digest) => count_malformed(changes, posted, (post, digest))?,
            WebhookContent::OtherMode(id) => count_posted_id(changes, posted, (post, id, false))?,
            WebhookContent::Event(id) => count_posted_id(changes, posted, (post, id, true))?,
        }
    }
    ledgers.into_iter().try_for_each(|(merchant, PostedLedger { ledger, pages })| {
        pages.iter().try_for_each(|pages| pages.write(changes))?;
        Ok(EVENT_LEDGERS.put(changes, merchant, &ledger)?)
    })
}

fn count_malformed(
    changes: &mut Changes<'_>,
    PostedLedger { ledger, pages: _ }: &mut PostedLedger,
    (post, digest): (&ReceivedWebhook, &Digest),
) -> Folded {
    let again = EVENTS_MALFORMED.has(changes, (&post.merchant, digest))?;
    increment(if again { &mut ledger.repeated } else { &mut ledger.malformed });
    Ok(EVENTS_MALFORMED.put(changes, (&post.merchant, digest), &post.at)?)
}

/// Counts a posted id. An id of the merchant's own mode then waits to be verified.
fn count_posted_id(
    changes: &mut Changes<'_>,
    PostedLedger { ledger, pages }: &mut PostedLedger,
    (post, id, own): (&ReceivedWebhook, &str, bool),
) -> Folded {
    let merchant = &post.merchant;
    let known = EVENTS.get(changes, (merchant, id))?;
    let again = known.is_some();
    let (posted, stands) = (vault_name(post), EventStatus::OtherMode);
    let fresh = EventEntry { posts: 0, first: post.at, posted, status: stands, page: None };
    let mut entry = known.unwrap_or(fresh);
    entry.posts = entry.posts.saturating_add(1);
    let begins = own && entry.status == EventStatus::OtherMode;
    if begins {
        let newest = pages.take().map_or_else(|| NewestPage::open(changes, merchant), Ok)?;
        entry.page = Some(pages.insert(newest).add(changes, id)?);
        entry.status = EventStatus::Waiting;
        EVENTS_UNMATCHED.remove(changes, (merchant, id));
    } else if entry.status == EventStatus::OtherMode {
        EVENTS_UNMATCHED.put(changes, (merchant, id), &entry.first)?;
    }
    ledger.repeated = ledger.repeated.saturating_add(u64::from(again));
    ledger.waiting = ledger.waiting.saturating_add(u64::from(begins));
    ledger.other_mode = ledger.other_mode.saturating_add(u64::from(!again && !own));
    Ok(EVENTS.put(changes, (merchant, id), &entry)?)
}

/// Returns the vault's name of a body. A body that lies in the journal's record stays there: no
/// reader needs it, and every post would lengthen the index by it.
fn vault_name(posted: &ReceivedWebhook) -> Option<String> {
    let named =
        posted.body.parse::<VaultRef>().is_ok() || fault_injection::is_active("read-back-skipped");
    named.then(|| posted.body.clone())
}

/// Folds a verified event. The event counts once; a second time is an internal error.
pub(crate) fn fold_verified(changes: &mut Changes<'_>, told: &VerifiedEvent) -> Folded {
    let merchant = &told.merchant;
    let known = EVENTS.get(changes, (merchant, &told.event))?;
    if known.as_ref().is_some_and(|known| matches!(known.status, EventStatus::Verified(_))) {
        return law!(5, "the event {} of {} is taken in twice", told.event, merchant.short());
    }
    let page = known.as_ref().and_then(|known| known.page);
    let was_forged = known.as_ref().is_some_and(|known| known.status == EventStatus::Forged);
    let stands = EventStatus::Verified(Box::new(told.clone()));
    let (posts, first) = known.map_or((0, told.at), |known| (known.posts, known.first));
    let entry = EventEntry { posts, first, posted: None, status: stands, page: None };
    EVENTS.put(changes, (merchant, &told.event), &entry)?;
    if let Some(page) = page {
        ledger::remove_waiting(changes, (merchant, page), &told.event)?;
    }
    EVENTS_FORGED.remove(changes, (merchant, &told.event));
    EVENTS_UNMATCHED.remove(changes, (merchant, &told.event));
    let payment = first_shown_payment(changes, told)?;
    update_object(changes, told)?;
    apply_payment(changes, told)?;
    let mut number = 0;
    change_ledger(changes, merchant, |ledger| {
        increment(&mut ledger.verified);
        number = ledger.verified;
        ledger.missed = ledger.missed.saturating_add(u64::from(posts == 0));
        ledger.stale = ledger.stale.saturating_add(u64::from(told.freshness == Freshness::Older));
        ledger.waiting = ledger.waiting.saturating_sub(u64::from(page.is_some()));
        ledger.forged = ledger.forged.saturating_sub(u64::from(was_forged));
        ledger.newest = ledger.newest.max(Some(told.created));
        if let Some(result) = payment {
            ledger.payments.count(result);
        }
    })?;
    EVENTS_TO_RUN.mark(changes, merchant);
    Ok(EVENT_NUMBERS.put(changes, (merchant, number), &told.event)?)
}

/// Returns the result of a payment that no earlier event showed.
fn first_shown_payment(
    changes: &Changes<'_>,
    told: &VerifiedEvent,
) -> Folded<Option<PaymentResult>> {
    let Some(object) = told.object.as_ref().filter(|_| told.freshness == Freshness::Newer) else {
        return Ok(None);
    };
    let known = OBJECTS.get(changes, (&told.merchant, object.id.as_str()))?;
    Ok(PaymentResult::first_shown(object, told.previous.as_ref(), known.as_ref()))
}

/// Updates the entry of an event's object: a newer version replaces it (law 3), and any event about
/// the object advances its last event time.
fn update_object(changes: &mut Changes<'_>, told: &VerifiedEvent) -> Folded {
    let Some(object) = &told.object else { return Ok(()) };
    let key = (&told.merchant, object.id.as_str());
    let known = OBJECTS.get(changes, key)?;
    let is_news = told.freshness == Freshness::Newer;
    let older = object.freshness(known.as_ref()) == Freshness::Older;
    if is_news && older && !fault_injection::is_active("stale-event-applied") {
        return law!(3, "an older version of {} takes the place of a newer one", object.id);
    }
    let Some(newest) = (if is_news { Some(object) } else { known.as_ref() }) else { return Ok(()) };
    let after = newest.clone().into_index_entry(known.as_ref(), told.created);
    if known.as_ref() == Some(&after) { Ok(()) } else { Ok(OBJECTS.put(changes, key, &after)?) }
}

/// Marks a posted event that the service does not have.
pub(crate) fn mark_forged(changes: &mut Changes<'_>, forged: &ForgedWebhook) -> Folded {
    let key = (&forged.merchant, forged.event.as_str());
    let known = EVENTS.get(changes, key)?;
    let Some((page, entry)) = known.and_then(|known| Some((known.page?, known))) else {
        return Ok(());
    };
    EVENTS_UNMATCHED.put(changes, key, &entry.first)?;
    EVENTS.put(changes, key, &EventEntry { status: EventStatus::Forged, page: None, ..entry })?;
    ledger::remove_waiting(changes, (&forged.merchant, page), &forged.event)?;
    EVENTS_FORGED.mark(changes, key);
    change_ledger(changes, &forged.merchant, |ledger| {
        increment(&mut ledger.forged);
        ledger.waiting = ledger.waiting.saturating_sub(1);
    })
}

/// Records how far the list of events was read; these times never go back.
pub(crate) fn note_polled(changes: &mut Changes<'_>, polled: &Polled) -> Folded {
    let later = |known: Option<DateTime<Utc>>, now| known.max(Some(now));
    change_ledger(changes, &polled.merchant, |ledger| {
        ledger.polled_to = later(ledger.polled_to, polled.to);
        ledger.polled_at = later(ledger.polled_at, polled.at);
    })?;
    // Once the list of events was read to its end, later events are certainly new.
    if !polled.whole || NEW_EVENTS.has(changes, &polled.merchant)? {
        return Ok(());
    }
    let ledger = EVENT_LEDGERS.get(changes, &polled.merchant)?.unwrap_or_default();
    Ok(NEW_EVENTS.put(changes, &polled.merchant, &ledger.verified)?)
}

/// Returns the scripts that ran, or failed, for an event.
pub(crate) fn scripts(ran: &HookRunRecord) -> impl Iterator<Item = &str> {
    let failed = ran.failures.iter().map(|failed| failed.script.as_str());
    ran.runs.iter().map(|run| run.script.as_str()).chain(failed)
}

/// Returns true if a lost state may have run the hooks of this event. The partner's webhooks are in
/// no list, and are not delivered again once they were accepted.
pub(crate) fn is_doubted(entries: &impl Entries, ran: &HookRunRecord) -> Folded<bool> {
    if ran.is_retry {
        for script in scripts(ran) {
            let known = HOOKS_FAILED.get(entries, ((&ran.merchant, &ran.event), script))?;
            if known.is_some_and(|known| known.maybe_ran) {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    Ok(!new_events(entries, &ran.merchant)?.covers(ran.number))
}

/// Events whose hooks no lost state can have run: those behind this number; all, if in no list.
pub(crate) struct NewEvents {
    listed: bool,
    from: Option<u64>,
}

impl NewEvents {
    pub(crate) fn covers(&self, number: u64) -> bool {
        !self.listed || self.from.is_some_and(|from| number > from)
    }
}

/// Returns the events of a merchant that are certainly new.
pub(crate) fn new_events(entries: &impl Entries, merchant: &Key) -> Folded<NewEvents> {
    let from = NEW_EVENTS.get(entries, merchant)?;
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
pub(crate) fn mark_doubted(changes: &mut Changes<'_>, pending: &PendingAction) {
    if let Ok(action) = pending.action() {
        DOUBTED_ACTIONS.mark(changes, &action);
    }
}

/// Handles a restored backup: pending actions may be done already, and no event is certainly new.
pub(crate) fn doubt_pending(changes: &mut Changes<'_>) -> Folded {
    changes.remove_under(NEW_EVENTS.prefix())?;
    for mut pending in ACTION_REQUESTS.list(changes)? {
        // The action's name is fixed, so its effect can be found, if the service shows it.
        pending.maybe_done |= pending.request.verb == NOTIFY;
        mark_doubted(changes, &pending);
        ACTION_REQUESTS.put(changes, &pending.id, &pending)?;
    }
    for mut failed in HOOKS_FAILED.list(changes)? {
        failed.maybe_ran = true;
        HOOKS_FAILED.put(changes, failed_run_key(&failed), &failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
