//! Checks merchants' events. Each real event is recorded once, and no invented one. The known state
//! of an object is no older than its events. An acknowledged post is durable.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use serde_json::Value;

use super::{Evidence, Violation};
use crate::model::event::{PostedWhat, Told, Via};
use crate::model::record::Record;
use crate::model::remote_object::{RemoteObject, Standing};
use crate::sim::desk::text;
use crate::sim::durable::Entry;
use crate::sim::net::door::{Answered, key_of};
use crate::store::facts::Facts;

/// Longest time from an event to its record, without faults; the list is read every minute.
const TOLD_WITHIN: TimeDelta = TimeDelta::minutes(3);
/// The first poll begins this long before a moment that precedes its record.
const FIRST: TimeDelta = TimeDelta::hours(1);

/// Outcomes of merchants' events in one run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Heard {
    /// Events that were read from the list.
    pub listed: u32,
    /// Events that were read by the id in a post.
    pub read_back: u32,
    /// Recorded events that were older than the known state.
    pub stale: u32,
    /// Posts of events that were acknowledged, with repetitions and forgeries.
    pub posts: u32,
    /// Posted ids that the service does not have.
    pub forged: u32,
    /// Posts that cannot be an event.
    pub garbled: u32,
}

/// Input of the event checks.
#[derive(Clone, Copy)]
pub(in crate::sim) struct Listening<'a> {
    /// Every event of the service, oldest first.
    pub(in crate::sim) events: &'a [Value],
    pub(in crate::sim) entries: &'a [Entry],
    /// Posts that were acknowledged.
    pub(in crate::sim) answered: &'a [Answered],
    /// Merchants whose events are posted.
    pub(in crate::sim) merchants: &'a [String],
    /// Read model of the journal at the end.
    pub(in crate::sim) known: Option<&'a Facts>,
    /// Time at the end of the run.
    pub(in crate::sim) now: DateTime<Utc>,
}

/// Returns every violation of the event laws. Completeness is not checked in a run that was cut
/// short.
pub(in crate::sim) fn events(
    evidence: &Evidence<'_>,
    all: &Listening<'_>,
    complete: bool,
) -> Vec<Violation> {
    let mut found = Vec::new();
    if evidence.script.net.gateway.is_none() {
        return found;
    }
    if evidence.lost.is_empty() {
        all.durable(&mut found);
    }
    for merchant in all.merchants {
        let own = all.of(merchant);
        own.genuine(&mut found);
        own.ordered(all.events, &mut found);
        if complete && is_connected(evidence, merchant) {
            own.complete(all, &mut found);
            own.newest(all, evidence, &mut found);
        }
    }
    found
}

/// Returns true if a merchant is ready at the end and waits for nothing.
pub(super) fn is_connected(evidence: &Evidence<'_>, merchant: &str) -> bool {
    let doc = evidence.files().and_then(|files| files.get(merchant));
    let mut views = evidence.views.iter().filter(|view| view.kind == "Merchant");
    let ready = views.any(|view| view.name == merchant && view.ready);
    ready && doc.is_some_and(|doc| !evidence.is_held(doc))
}

/// Events of one merchant: those of the service, those recorded, and the time of the first poll.
pub(super) struct Own<'a> {
    merchant: &'a str,
    pub(super) events: BTreeMap<&'a str, &'a Value>,
    /// Newest event of each object.
    last: BTreeMap<&'a str, &'a Value>,
    told: Vec<&'a Told>,
    first: Option<DateTime<Utc>>,
}

impl<'a> Listening<'a> {
    pub(super) fn of(&self, merchant: &'a str) -> Own<'a> {
        let mut own = Own {
            merchant,
            events: BTreeMap::new(),
            last: BTreeMap::new(),
            told: Vec::new(),
            first: None,
        };
        for event in self.events.iter().filter(|one| is_of(one, merchant)) {
            own.events.insert(text(event, "id"), event);
            own.last.extend(event.get("data").map(|data| (text(data, "id"), event)));
        }
        for entry in self.entries {
            if let Record::Told(told) = &entry.record
                && told.merchant.name.as_str() == merchant
                && told.via != Via::Post
            {
                own.told.push(told);
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
    fn durable(&self, found: &mut Vec<Violation>) {
        let mut there = BTreeMap::new();
        for entry in self.entries {
            if let Some(named) = named(&entry.record) {
                there.entry(named).or_insert(entry.sequence);
            }
        }
        for one in self.answered {
            let (merchant, event) = (one.merchant.as_str(), one.event.as_str());
            if there.get(&(merchant, event)).is_none_or(|number| *number > one.head) {
                let text =
                    format!("a post of {event} to {merchant} was answered and not on disk by then");
                found.push(Violation::new("events", text));
            }
        }
    }

    /// Counts the outcomes of events.
    pub(in crate::sim) fn heard(&self) -> Heard {
        let mut heard = Heard::default();
        let one = |number: &mut u32| *number = number.saturating_add(1);
        for entry in self.entries {
            if let Record::Told(told) = &entry.record {
                match told.via {
                    Via::Poll => one(&mut heard.listed),
                    Via::ReadBack => one(&mut heard.read_back),
                    // The partner's own webhooks have a check of their own.
                    Via::Post => continue,
                }
                if told.standing == Standing::Stale {
                    one(&mut heard.stale);
                }
            }
            if matches!(entry.record, Record::Forged(_)) {
                one(&mut heard.forged);
            }
            if let Record::Posted(posted) = &entry.record
                && matches!(posted.what, PostedWhat::Garbled(_))
            {
                one(&mut heard.garbled);
            }
        }
        heard.posts = u32::try_from(self.answered.len()).unwrap_or(u32::MAX);
        heard
    }
}

impl Own<'_> {
    /// Checks that each recorded event equals the service's event, and is recorded once.
    fn genuine(&self, found: &mut Vec<Violation>) {
        let mut seen = BTreeSet::new();
        for told in &self.told {
            let (id, merchant) = (&told.event, self.merchant);
            if !seen.insert(id) {
                let text = format!("the event {id} of {merchant} is told twice");
                found.push(Violation::new("law 5", text));
            }
            let Some(event) = self.events.get(id.as_str()) else {
                let text =
                    format!("{merchant} is told the event {id}, which the service never had");
                found.push(Violation::new("law 3", text));
                continue;
            };
            if !self.is_genuine(told, event) {
                let text =
                    format!("{merchant} is told another content of the event {id}: {told:?}");
                found.push(Violation::new("law 3", text));
            }
        }
    }

    /// Returns true if a recorded event equals the service's event. If neither time nor state
    /// decided, the object may have been read again, and is another version of itself.
    fn is_genuine(&self, told: &Told, event: &Value) -> bool {
        let shown = version(event);
        let same = match (&told.object, &shown) {
            (Some(told), Some(shown)) => {
                told.id == shown.id && (said(told) == said(shown) || self.had(told))
            }
            (told, shown) => told.is_none() && shown.is_none(),
        };
        same && told.kind == text(event, "type") && at(event) == Some(told.created)
    }

    /// Returns true if the object ever had this state.
    fn had(&self, object: &RemoteObject) -> bool {
        let all = self.events.values().filter_map(|event| version(event));
        all.filter(|one| one.id == object.id).any(|one| said(&one) == said(object))
    }

    /// Checks that no older version of an object replaces a newer one, in the order in which the
    /// service wrote them. An object that was read again may match another event or none, and is
    /// skipped.
    fn ordered(&self, events: &[Value], found: &mut Vec<Violation>) {
        let mut newest: BTreeMap<&str, usize> = BTreeMap::new();
        for told in self.told.iter().filter(|told| told.standing == Standing::News) {
            let Some(object) = &told.object else { continue };
            let own = events.iter().position(|event| text(event, "id") == told.event);
            let own = own.filter(|at| events.get(*at).is_some_and(|event| shows(event, object)));
            let last = events.iter().rposition(|event| shows(event, object));
            let (Some(own), Some(last)) = (own, last) else { continue };
            let known = newest.entry(object.id.as_str()).or_insert(own);
            if last < *known {
                let (id, status) = (&object.id, object.status.as_deref().unwrap_or_default());
                let text = format!("{id} of {} goes back to {status}", self.merchant);
                found.push(Violation::new("law 3", text));
            }
            *known = own.max(*known);
        }
    }

    /// Checks that every event is recorded, except those before the first poll and those of the
    /// last minutes.
    fn complete(&self, all: &Listening<'_>, found: &mut Vec<Violation>) {
        let told: BTreeSet<&str> = self.told.iter().map(|told| told.event.as_str()).collect();
        let missing = self.events.iter().filter(|(id, _)| !told.contains(*id));
        for (id, event) in missing.filter(|(_, event)| self.is_due(event, all.now)) {
            let text = format!(
                "{} was never told the event {id}, {} at {}",
                self.merchant,
                text(event, "type"),
                text(event, "created")
            );
            found.push(Violation::new("events", text));
        }
    }

    /// Returns true if an event must be known at `now`.
    pub(super) fn is_due(&self, event: &Value, now: DateTime<Utc>) -> bool {
        let Some(at) = at(event) else { return false };
        let since = self.first.and_then(|first| first.checked_sub_signed(FIRST));
        let old = at.checked_add_signed(TOLD_WITHIN).is_some_and(|due| due <= now);
        old && since.is_none_or(|since| since <= at)
    }

    /// Checks that the known state of a transaction or occurrence equals its newest event or its
    /// current state.
    fn newest(&self, all: &Listening<'_>, evidence: &Evidence<'_>, found: &mut Vec<Violation>) {
        let (Some(facts), Some(key)) = (all.known, key_of(self.merchant)) else { return };
        let horizon = facts.event_ledger(&key).ok().and_then(|ledger| ledger.horizon);
        let dropped = |event: &Value| at(event).is_none_or(|at| Some(at) <= horizon);
        let objects = evidence.objects.transactions.iter().chain(&evidence.objects.occurrences);
        for object in objects.filter(|one| is_of(one, self.merchant)) {
            let id = text(object, "id");
            let Some(event) = self.last.get(id).filter(|event| self.is_due(event, all.now)) else {
                continue;
            };
            let known = facts.remote_object(&key, id).ok().flatten();
            let now = known.as_ref().and_then(|known| {
                RemoteObject::of(&format!("{}.", known.kind), object, known.modified)
            });
            let fresh =
                |other: &Option<RemoteObject>| known.as_ref().map(said) == other.as_ref().map(said);
            if known.is_none() && dropped(event) {
                continue;
            }
            if known.is_none() || !(fresh(&now) || fresh(&version(event))) {
                let known = known.and_then(|known| known.status).unwrap_or_default();
                let text = format!(
                    "of {id} of {} is known {known:?}; it is {}, and its newest event says {:?}",
                    self.merchant,
                    text(object, "status"),
                    version(event).and_then(|one| one.status)
                );
                found.push(Violation::new("law 3", text));
            }
        }
    }
}

/// Returns the merchant and the event that a record makes known.
fn named(record: &Record) -> Option<(&str, &str)> {
    if let Record::Told(told) = record {
        return Some((told.merchant.name.as_str(), told.event.as_str()));
    }
    let Record::Posted(posted) = record else { return None };
    match &posted.what {
        PostedWhat::Event(id) | PostedWhat::OtherMode(id) => {
            Some((posted.merchant.name.as_str(), id.as_str()))
        }
        PostedWhat::Garbled(_) => None,
    }
}

/// Returns true if an object belongs to a merchant, in the mode of simulated merchants.
fn is_of(object: &Value, merchant: &str) -> bool {
    text(object, "merchant") == merchant && text(object, "mode") == "test"
}

fn at(event: &Value) -> Option<DateTime<Utc>> {
    text(event, "created").parse().ok()
}

/// Returns the version of the object in an event.
fn version(event: &Value) -> Option<RemoteObject> {
    RemoteObject::of(text(event, "type"), event.get("data")?, at(event)?)
}

/// Returns true if an event shows an object in this state.
fn shows(event: &Value, object: &RemoteObject) -> bool {
    version(event).is_some_and(|one| one.id == object.id && said(&one) == said(object))
}

fn said(object: &RemoteObject) -> (Option<&str>, Option<i64>) {
    (object.status.as_deref(), object.amount)
}
