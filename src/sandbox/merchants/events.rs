//! The log of events (gateway-api, Events): appended, listed and read, never changed.
//!
//! Events of an owner are numbered in the order of their times, so that any page and any start date
//! is found without a scan. An event is kept under its number; its id leads to the number.

use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api::call::Page;
use crate::api::event::Event;
use crate::api::wire::Timestamp;
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::request::{self, PageQuery, ParsedRequest};
use crate::sandbox::state::objects::{MerchantMode, ObjectKind, ObjectOwner, newest_first};
use crate::sandbox::state::outbox::{self, WebhookMessage};
use crate::sandbox::state::store::ChangeUnit;

/// The event types that the interface documents name.
const DOCUMENTED: [&str; 2] = ["transaction.created", "transaction.authorized"];

/// Records an event; on the documented surface only of the types that the documents name.
pub(crate) fn emit<T: Serialize>(
    cx: &mut ChangeUnit,
    owner: &ObjectOwner,
    kind: &str,
    data: &T,
) -> Result<()> {
    if !cx.is_public() && !DOCUMENTED.contains(&kind) {
        return Ok(());
    }
    let id = cx.fresh_gateway_id();
    let recorded = NewEventRecord { id: &id, created: Timestamp(cx.now), kind, data };
    let list = list_of(owner);
    let number = cx.count(&list)?.saturating_add(1);
    cx.put(&newest_first(&list, number), &recorded)?;
    cx.put(&ObjectKind::EVENT.object(&id), &number)?;
    announce(cx, owner, &recorded)
}

fn list_of(owner: &ObjectOwner) -> String {
    ObjectKind::EVENT.list(&owner.key())
}

/// An [`Event`] to be written, with its data borrowed.
#[derive(Serialize)]
struct NewEventRecord<'a, T> {
    id: &'a str,
    created: Timestamp,
    #[serde(rename = "type")]
    kind: &'a str,
    data: &'a T,
}

/// Records an event of no mode in both modes, for both sets of URLs (gateway-api, Webhook
/// rules, 1).
pub(crate) fn emit_to_both<T: Serialize>(
    cx: &mut ChangeUnit,
    merchant: &str,
    kind: &str,
    data: &T,
) -> Result<()> {
    for mode in [MerchantMode::Test, MerchantMode::Live] {
        let owner = ObjectOwner { merchant: merchant.to_owned(), mode };
        emit(cx, &owner, kind, data)?;
    }
    Ok(())
}

/// Sends the event to the URLs that the merchant set for this mode (gateway-api, Webhook rules).
fn announce<T: Serialize>(
    cx: &mut ChangeUnit,
    owner: &ObjectOwner,
    recorded: &NewEventRecord<'_, T>,
) -> Result<()> {
    let policy = cx.policy(&owner.merchant)?;
    let urls = policy.events_urls.of(owner.mode).split(',').map(str::trim);
    for url in urls.filter(|url| !url.is_empty()) {
        let event: Event = serde_json::from_value(serde_json::to_value(recorded)?)?;
        outbox::enqueue_message(cx, WebhookMessage::Merchant { url: url.to_owned(), event })?;
    }
    Ok(())
}

pub(crate) fn newest(cx: &ChangeUnit, owner: &ObjectOwner) -> Result<Option<Event>> {
    let list = list_of(owner);
    read(cx, &list, cx.count(&list)?)
}

/// Returns the event of this number; `T` is an [`Event`] or a part of it.
fn read<T: DeserializeOwned>(cx: &ChangeUnit, list: &str, number: u64) -> Result<Option<T>> {
    cx.get(&newest_first(list, number))
}

pub(crate) fn get(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<Event> {
    let (list, id) = (list_of(&asked.owner()?), asked.parameter(0));
    let number = cx.get::<u64>(&ObjectKind::EVENT.object(id))?;
    let found = number.map_or(Ok(None), |number| read::<Event>(cx, &list, number))?;
    // The number may be the one of another owner's event.
    let found = found.filter(|event| event.id == id);
    found.ok_or_else(|| SandboxRefusal::not_found(ObjectKind::EVENT.name, id))
}

/// GET /v1/events: newest first; with `start_date`, from it on in rising order (service-facts, 75).
pub(crate) fn list(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<Page<Event>> {
    let list = list_of(&asked.owner()?);
    let paging = PageQuery::of(asked)?;
    let total = cx.count(&list)?;
    let events = |numbers: &mut dyn Iterator<Item = u64>| {
        numbers.filter_map(|number| read(cx, &list, number).transpose()).collect()
    };
    let Some(start) = request::moment(asked, "start_date")? else {
        let top = total.saturating_sub(paging.skip());
        let below = top.saturating_sub(paging.size)..top;
        let results: Result<_> = events(&mut below.rev().map(|below| below.saturating_add(1)));
        return Ok(paging.page_of(total, results?));
    };
    let first = first_since(cx, &list, start)?;
    let from = first.saturating_add(paging.skip());
    let results: Result<_> = events(&mut (from..from.saturating_add(paging.size)));
    Ok(paging.page_of(total.saturating_add(1).saturating_sub(first), results?))
}

/// The time of an event.
#[derive(Deserialize)]
struct EventTime {
    created: Timestamp,
}

/// Returns the number of the first event at this time or later; the next number if there is none.
fn first_since(cx: &ChangeUnit, list: &str, start: DateTime<Utc>) -> Result<u64> {
    let (mut first, mut end) = (1, cx.count(list)?.saturating_add(1));
    while first < end {
        let middle = first.midpoint(end);
        let event: Option<EventTime> = read(cx, list, middle)?;
        if event.is_some_and(|event| event.created.0 < start) {
            first = middle.saturating_add(1);
        } else {
            end = middle;
        }
    }
    Ok(first)
}

/// Returns every event with its owner, in order of time.
pub(crate) fn all(cx: &ChangeUnit) -> Result<Vec<(ObjectOwner, Map<String, Value>)>> {
    let prefix = ObjectKind::EVENT.list("");
    let mut all = Vec::new();
    for (key, event) in cx.entries(&format!("l/{prefix}"))?.into_iter().rev() {
        let owner = key.split('/').nth(2).and_then(ObjectOwner::parse);
        all.extend(owner.zip(serde_json::from_value(event).ok()));
    }
    all.sort_by(|(_, one), (_, other)| {
        let created = |event: &Map<String, Value>| {
            event.get("created").and_then(Value::as_str).map(str::to_owned)
        };
        created(one).cmp(&created(other))
    });
    Ok(all)
}
