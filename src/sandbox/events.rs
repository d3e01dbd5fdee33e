//! The log of events (gateway-api, Events): appended, listed and read, never changed.
//!
//! Events of an owner are numbered, so that any page and any start date is found without a scan.

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::api::Page;
use crate::api::event::Event;
use crate::api::wire::Timestamp;
use crate::sandbox::asked::Asked;
use crate::sandbox::lists::{Kept, KindOf, Mode, Owner, Paging};
use crate::sandbox::options::Surface;
use crate::sandbox::outbox;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::{Cx, ordered};

pub(crate) const KIND: KindOf = KindOf { word: "event", name: "Event" };

/// The event types that the interface documents name.
const DOCUMENTED: [&str; 2] = ["transaction.created", "transaction.authorized"];

/// Records an event; on the documented surface only of the types that the documents name.
pub(crate) fn emit<T: Serialize>(
    cx: &mut Cx<'_>,
    owner: &Owner,
    kind: &str,
    data: &T,
) -> Result<(), Refusal> {
    if cx.world.options.surface == Surface::Documented && !DOCUMENTED.contains(&kind) {
        return Ok(());
    }
    let sequence = cx.next();
    let id = cx.id();
    let object = Recorded { id: &id, created: Timestamp(cx.now), kind, data };
    let under = owner.key();
    let number = cx.count(&list_of(&under))?.saturating_add(1);
    cx.put(&time_key(&under, cx.now, number), &number)?;
    cx.list_add(&list_of(&under), number, &id)?;
    announce(cx, owner, &object)?;
    cx.update(KIND, &id, &Kept { owner: owner.clone(), sequence, object, inside: () })
}

/// An [`Event`] to be written, with its data borrowed.
#[derive(Serialize)]
struct Recorded<'a, T> {
    id: &'a str,
    created: Timestamp,
    #[serde(rename = "type")]
    kind: &'a str,
    data: &'a T,
}

/// Returns the key of an owner's list of events, by number.
fn list_of(under: &str) -> String {
    format!("{}/{under}", KIND.word)
}

/// Records an event of no mode in both modes, and sends it to both sets of URLs (gateway-api,
/// Webhook rules, 1).
pub(crate) fn emit_to_both<T: Serialize>(
    cx: &mut Cx<'_>,
    merchant: &str,
    kind: &str,
    data: &T,
) -> Result<(), Refusal> {
    for mode in [Mode::Test, Mode::Live] {
        let owner = Owner { merchant: merchant.to_owned(), mode };
        emit(cx, &owner, kind, data)?;
    }
    Ok(())
}

/// Sends the event to the URLs that the merchant set for this mode (gateway-api, Webhook rules).
fn announce<T: Serialize>(
    cx: &mut Cx<'_>,
    owner: &Owner,
    recorded: &Recorded<'_, T>,
) -> Result<(), Refusal> {
    let policy = cx.policy(&owner.merchant)?;
    let urls = policy.events_urls.of(owner.mode).split(',').map(str::trim);
    for url in urls.filter(|url| !url.is_empty()) {
        let event: Event = serde_json::from_value(serde_json::to_value(recorded)?)?;
        outbox::announce(cx, url, event)?;
    }
    Ok(())
}

fn time_key(under: &str, time: DateTime<Utc>, number: u64) -> String {
    format!("evt/{under}/{}/{}", millis(time), ordered(number))
}

pub(crate) fn millis(time: DateTime<Utc>) -> String {
    ordered(u64::try_from(time.timestamp_millis()).unwrap_or(0))
}

/// Returns the newest event of an owner.
pub(crate) fn newest(cx: &Cx<'_>, owner: &Owner) -> Result<Option<Event>, Refusal> {
    let list = list_of(&owner.key());
    let Some(id) = cx.listed(&list, cx.count(&list)?)? else { return Ok(None) };
    let kept: Option<Kept<Event, ()>> = cx.any(KIND, &id)?;
    Ok(kept.map(|kept| kept.object))
}

/// GET /v1/events/{id}.
pub(crate) fn get(cx: &mut Cx<'_>, asked: &Asked) -> Result<Event, Refusal> {
    let kept: Kept<Event, ()> = cx.find(KIND, &asked.owner()?, asked.parameter(0))?;
    Ok(kept.object)
}

/// GET /v1/events: newest first; with `start_date`, from it on in rising order (service-facts, 75).
pub(crate) fn list(cx: &mut Cx<'_>, asked: &Asked) -> Result<Page<Event>, Refusal> {
    let owner = asked.owner()?;
    let under = owner.key();
    let paging = Paging::of(asked)?;
    let total = cx.count(&list_of(&under))?;
    let numbers: Vec<u64> = match moment(asked, "start_date")? {
        None => {
            let top = total.saturating_sub(paging.skip());
            let bottom = top.saturating_sub(paging.size);
            (bottom..top).rev().map(|below| below.saturating_add(1)).collect()
        }
        Some(start) => {
            let first = first_from(cx, &under, start)?.unwrap_or(total.saturating_add(1));
            let from = first.saturating_add(paging.skip());
            let results = read(cx, &under, from..from.saturating_add(paging.size))?;
            let after = total.saturating_add(1).saturating_sub(first);
            return Ok(paging.page_of(after, results));
        }
    };
    let results = read(cx, &under, numbers)?;
    Ok(paging.page_of(total, results))
}

fn first_from(cx: &Cx<'_>, under: &str, start: DateTime<Utc>) -> Result<Option<u64>, Refusal> {
    let prefix = format!("evt/{under}/");
    let before = format!("{prefix}{}", millis(start));
    let found = cx.scan(&prefix, Some(&before), 1)?;
    Ok(found.first().and_then(|(_, number)| number.as_u64()))
}

fn read(
    cx: &Cx<'_>,
    under: &str,
    numbers: impl IntoIterator<Item = u64>,
) -> Result<Vec<Event>, Refusal> {
    let mut events = Vec::new();
    for number in numbers {
        let kept: Option<Kept<Event, ()>> = match cx.listed(&list_of(under), number)? {
            Some(id) => cx.any(KIND, &id)?,
            None => None,
        };
        events.extend(kept.map(|kept| kept.object));
    }
    Ok(events)
}

/// Parses a moment of the query.
pub(crate) fn moment(asked: &Asked, name: &str) -> Result<Option<DateTime<Utc>>, Refusal> {
    let Some(text) = asked.query(name) else {
        return Ok(None);
    };
    let time = DateTime::parse_from_rfc3339(text).map(|time| time.with_timezone(&Utc));
    time.map(Some).map_err(|_| Refusal::field(name, "invalid", "Date is invalid"))
}
