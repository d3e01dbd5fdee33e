//! Checks merchants' events. Each real event is recorded once, and no invented one. The known state
//! of an object is no older than its events. An acknowledged post is durable.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use crate::model::events::event::{VerifiedEvent, Via, WebhookContent};
use crate::model::record::Record;
use crate::model::remote_object::{Freshness, RemoteObject};
use crate::sim::check::evidence::{RunEvidence, Violation, Violations};
use crate::sim::machine::journal::DurableRecord;
use crate::sim::service::control::text;
use crate::sim::service::post_office::{AcknowledgedPost, key_of};
use crate::store::read_model::model::ReadModel;

/// Longest time from an event to its record, without faults; the list is read every minute.
const RECORDED_WITHIN: TimeDelta = TimeDelta::minutes(3);
/// The first poll begins this long before a moment that precedes its record.
const FIRST_POLL_SPAN: TimeDelta = TimeDelta::hours(1);

/// Numbers of merchants' events, each with the name of the outcome.
pub type EventOutcomes = Vec<(&'static str, u32)>;

#[derive(Clone, Copy, Default)]
pub(crate) struct EventEvidence<'a> {
    /// Every event of the service, oldest first.
    pub(crate) events: &'a [Value],
    pub(crate) entries: &'a [DurableRecord],
    pub(crate) answered: &'a [AcknowledgedPost],
    pub(crate) merchants: &'a [String],
    pub(crate) known: Option<&'a ReadModel>,
    pub(crate) now: DateTime<Utc>,
}

/// Returns every violation of the event laws. Completeness is not checked in a run that was cut
/// short.
pub(crate) fn check_events(
    evidence: &RunEvidence<'_>,
    all: &EventEvidence<'_>,
    complete: bool,
) -> Violations {
    let mut found = Vec::new();
    if evidence.script.net.gateway.is_none() {
        return found;
    }
    if evidence.lost.is_empty() {
        all.check_durable(&mut found);
    }
    for merchant in all.merchants {
        let own = all.merchant_events(merchant);
        own.check_genuine(&mut found);
        own.check_order(all.events, &mut found);
        if complete && is_connected(evidence, merchant) {
            own.check_complete(all, &mut found);
            own.check_newest(all, evidence, &mut found);
        }
    }
    found
}

/// Returns true if a merchant is ready at the end and waits for nothing.
pub(crate) fn is_connected(evidence: &RunEvidence<'_>, merchant: &str) -> bool {
    let doc = evidence.files().and_then(|files| files.get(merchant));
    let mut views = evidence.views.iter().filter(|view| view.kind == "Merchant");
    let ready = views.any(|view| view.name == merchant && view.ready);
    ready && doc.is_some_and(|doc| !evidence.is_on_hold(doc))
}

/// Events of one merchant: those of the service, those recorded, and the time of the first poll.
#[derive(Default)]
pub(crate) struct MerchantEvents<'a> {
    merchant: &'a str,
    pub(crate) events: BTreeMap<&'a str, &'a Value>,
    last: BTreeMap<&'a str, &'a Value>,
    recorded: Vec<&'a VerifiedEvent>,
    first: Option<DateTime<Utc>>,
}

impl<'a> EventEvidence<'a> {
    pub(crate) fn merchant_events(&self, merchant: &'a str) -> MerchantEvents<'a> {
        let mut own = MerchantEvents { merchant, ..MerchantEvents::default() };
        for event in self.events.iter().filter(|one| is_of(one, merchant)) {
            own.events.insert(text(event, "id"), event);
            own.last.extend(event.get("data").map(|data| (text(data, "id"), event)));
        }
        for entry in self.entries {
            if let Record::EventVerified(recorded) = &entry.record
                && recorded.merchant.name.as_str() == merchant
                && recorded.via != Via::Post
            {
                own.recorded.push(recorded);
            }
            if let Record::Polled(polled) = &entry.record
                && polled.merchant.name.as_str() == merchant
            {
                own.first.get_or_insert(polled.at);
            }
        }
        own
    }

    /// Checks that an acknowledged post was durable before its answer, and still is.
    fn check_durable(&self, found: &mut Violations) {
        let mut there = BTreeMap::new();
        for entry in self.entries {
            if let Some(named) = known_event(&entry.record) {
                there.entry(named).or_insert(entry.sequence);
            }
        }
        for AcknowledgedPost { merchant, event, head } in self.answered {
            if there.get(&(&**merchant, &**event)).is_none_or(|number| number > head) {
                let text = format!(
                    "a post of {event} to {merchant} was acknowledged before it was durable"
                );
                found.push(Violation::new("events", text));
            }
        }
    }

    pub(crate) fn count_outcomes(&self) -> EventOutcomes {
        let records = || self.entries.iter().map(|entry| &entry.record);
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let recorded = |is: fn(&VerifiedEvent) -> bool| {
            let is = |one: &&Record| matches!(one, Record::EventVerified(event) if is(event));
            count(records().filter(is).count())
        };
        let forged = records().filter(|one| matches!(one, Record::Forged(_)));
        let malformed = records().filter(|one| {
            matches!(one, Record::WebhookReceived(posted)
                if matches!(posted.what, WebhookContent::Malformed(_)))
        });
        // The partner's own webhooks (`Via::Post`) have a check of their own.
        let is_old =
            |one: &VerifiedEvent| one.via != Via::Post && one.freshness == Freshness::Older;
        vec![
            ("event in a list", recorded(|one| one.via == Via::Poll)),
            ("event read by its id", recorded(|one| one.via == Via::ReadBack)),
            ("event older than the known state", recorded(is_old)),
            // With repetitions and forgeries.
            ("post of an event", count(self.answered.len())),
            ("post of an unknown id", count(forged.count())),
            ("post without an event", count(malformed.count())),
        ]
    }
}

impl MerchantEvents<'_> {
    /// Checks that each recorded event equals the service's event, and is recorded once.
    fn check_genuine(&self, found: &mut Violations) {
        let mut seen = BTreeSet::new();
        for recorded in &self.recorded {
            let (id, merchant) = (&recorded.event, self.merchant);
            if !seen.insert(id) {
                let text = format!("the event {id} of {merchant} is recorded twice");
                found.push(Violation::new("law 5", text));
            }
            let Some(event) = self.events.get(id.as_str()) else {
                let text = format!(
                    "the event {id} of {merchant} is recorded, and the service never had it"
                );
                found.push(Violation::new("law 3", text));
                continue;
            };
            if !self.is_genuine(recorded, event) {
                let text = format!(
                    "the event {id} of {merchant} is recorded with other content: {recorded:?}"
                );
                found.push(Violation::new("law 3", text));
            }
        }
    }

    /// Returns true if a recorded event equals the service's event. If neither time nor state
    /// decided, the object may have been read again, and is another version of itself.
    fn is_genuine(&self, recorded: &VerifiedEvent, event: &Value) -> bool {
        let same = match (&recorded.object, shown_object(event)) {
            (Some(recorded), Some(shown)) => {
                let ever_shown = self.events.values().any(|event| shows_state(event, recorded));
                recorded.id == shown.id && ever_shown
            }
            (recorded, shown) => recorded.is_none() && shown.is_none(),
        };
        same && recorded.kind == text(event, "type") && created_at(event) == Some(recorded.created)
    }

    /// Checks that no older version of an object replaces a newer one, in the order in which the
    /// service wrote them. An object that was read again may match another event or none, and is
    /// skipped.
    fn check_order(&self, events: &[Value], found: &mut Violations) {
        let mut newest: BTreeMap<&str, usize> = BTreeMap::new();
        for recorded in self.recorded.iter().filter(|one| one.freshness == Freshness::Newer) {
            let Some(object) = &recorded.object else { continue };
            let own = events.iter().position(|event| text(event, "id") == recorded.event);
            let own =
                own.filter(|at| events.get(*at).is_some_and(|event| shows_state(event, object)));
            let last = events.iter().rposition(|event| shows_state(event, object));
            let (Some(own), Some(last)) = (own, last) else { continue };
            let known = newest.entry(object.id.as_str()).or_insert(own);
            if last < *known {
                let (id, status) = (&object.id, object.status.as_deref().unwrap_or_default());
                let text =
                    format!("{id} of {} returns to the older status {status}", self.merchant);
                found.push(Violation::new("law 3", text));
            }
            *known = own.max(*known);
        }
    }

    /// Checks that every event is recorded, except those before the first poll and those of the
    /// last minutes.
    fn check_complete(&self, all: &EventEvidence<'_>, found: &mut Violations) {
        let is_recorded = |id: &str| self.recorded.iter().any(|recorded| recorded.event == *id);
        let missing = self.events.iter().filter(|(id, _)| !is_recorded(id));
        for (id, event) in missing.filter(|(_, event)| self.is_due(event, all.now)) {
            let (merchant, kind, at) = (self.merchant, text(event, "type"), text(event, "created"));
            let text = format!("{merchant} has no record of the event {id}, {kind} at {at}");
            found.push(Violation::new("events", text));
        }
    }

    /// Returns true if an event must be known at `now`.
    pub(crate) fn is_due(&self, event: &Value, now: DateTime<Utc>) -> bool {
        let Some(at) = created_at(event) else { return false };
        let since = self.first.and_then(|first| first.checked_sub_signed(FIRST_POLL_SPAN));
        let old = at.checked_add_signed(RECORDED_WITHIN).is_some_and(|due| due <= now);
        old && since.is_none_or(|since| since <= at)
    }

    /// Checks that the known state of a transaction or occurrence equals its newest event or its
    /// current state.
    fn check_newest(
        &self,
        all: &EventEvidence<'_>,
        evidence: &RunEvidence<'_>,
        found: &mut Violations,
    ) {
        let (Some(facts), Some(key)) = (all.known, key_of(self.merchant)) else { return };
        let horizon = facts.event_ledger(&key).ok().and_then(|ledger| ledger.horizon);
        let dropped = |event: &Value| created_at(event).is_none_or(|at| Some(at) <= horizon);
        let objects = evidence.objects.transactions.iter().chain(&evidence.objects.occurrences);
        for object in objects.filter(|one| is_of(one, self.merchant)) {
            let id = text(object, "id");
            let Some(event) = self.last.get(id).filter(|event| self.is_due(event, all.now)) else {
                continue;
            };
            let known = facts.remote_object(&key, id).ok().flatten();
            let is_fresh = known.as_ref().map(|known| {
                let now = RemoteObject::of(&format!("{}.", known.kind), object, known.modified);
                let is_same = |other: &RemoteObject| visible_state(other) == visible_state(known);
                [now, shown_object(event)].iter().flatten().any(is_same)
            });
            if !is_fresh.unwrap_or_else(|| dropped(event)) {
                let known = known.and_then(|known| known.status).unwrap_or_default();
                let shown = shown_object(event).and_then(|one| one.status);
                let (merchant, status) = (self.merchant, text(object, "status"));
                let text = format!(
                    "{id} of {merchant} is recorded as {known:?}; its status is {status}, and its newest event shows {shown:?}"
                );
                found.push(Violation::new("law 3", text));
            }
        }
    }
}

/// Returns the merchant and the event that a record makes known.
fn known_event(record: &Record) -> Option<(&str, &str)> {
    if let Record::EventVerified(recorded) = record {
        return Some((recorded.merchant.name.as_str(), recorded.event.as_str()));
    }
    let Record::WebhookReceived(posted) = record else { return None };
    let (WebhookContent::Event(id) | WebhookContent::OtherMode(id)) = &posted.what else {
        return None;
    };
    Some((posted.merchant.name.as_str(), id.as_str()))
}

/// Returns true if an object belongs to a merchant, in the mode of simulated merchants.
fn is_of(object: &Value, merchant: &str) -> bool {
    text(object, "merchant") == merchant && text(object, "mode") == "test"
}

fn created_at(event: &Value) -> Option<DateTime<Utc>> {
    text(event, "created").parse().ok()
}

fn shown_object(event: &Value) -> Option<RemoteObject> {
    RemoteObject::of(text(event, "type"), event.get("data")?, created_at(event)?)
}

fn shows_state(event: &Value, object: &RemoteObject) -> bool {
    shown_object(event)
        .is_some_and(|one| one.id == object.id && visible_state(&one) == visible_state(object))
}

fn visible_state(object: &RemoteObject) -> (Option<&str>, Option<i64>) {
    (object.status.as_deref(), object.amount)
}
