//! The log of events (gateway-api, Events): appended, listed and read, never changed.
//!
//! Events of an owner are numbered, so that any page and any start date is found without a scan.

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::api::call::Page;
use crate::api::event::Event;
use crate::api::wire::Timestamp;
use crate::sandbox::answer::Result;
use crate::sandbox::request::{self, PageQuery, ParsedRequest};
use crate::sandbox::state::objects::{MerchantMode, ObjectKind, ObjectOwner, Stored};
use crate::sandbox::state::store::{ChangeUnit, sortable_key};
use crate::sandbox::state::{outbox, store};

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
    let sequence = cx.next();
    let id = cx.fresh_gateway_id();
    let object = NewEventRecord { id: &id, created: Timestamp(cx.now), kind, data };
    let under = owner.key();
    let number = cx.count(&ObjectKind::EVENT.list(&under))?.saturating_add(1);
    cx.put(&time_key(&under, cx.now, number), &number)?;
    cx.list_add(&ObjectKind::EVENT.list(&under), number, &id)?;
    announce(cx, owner, &object)?;
    let kept = Stored { owner: owner.clone(), sequence, object, internal: () };
    cx.update(ObjectKind::EVENT, &id, &kept)
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

/// Records an event of no mode in both modes, and sends it to both sets of URLs (gateway-api,
/// Webhook rules, 1).
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
        outbox::announce(cx, url, event)?;
    }
    Ok(())
}

fn time_key(under: &str, time: DateTime<Utc>, number: u64) -> String {
    format!("evt/{under}/{}/{}", store::millis(time), sortable_key(number))
}

pub(crate) fn newest(cx: &ChangeUnit, owner: &ObjectOwner) -> Result<Option<Event>> {
    let list = ObjectKind::EVENT.list(&owner.key());
    let Some(id) = cx.list_entry(&list, cx.count(&list)?)? else { return Ok(None) };
    let kept: Option<Stored<Event, ()>> = cx.find_any_owner(ObjectKind::EVENT, &id)?;
    Ok(kept.map(|kept| kept.object))
}

/// GET /v1/events/{id}.
pub(crate) fn get(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<Event> {
    let kept: Stored<Event, ()> =
        cx.find(ObjectKind::EVENT, &asked.owner()?, asked.parameter(0))?;
    Ok(kept.object)
}

/// GET /v1/events: newest first; with `start_date`, from it on in rising order (service-facts, 75).
pub(crate) fn list(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<Page<Event>> {
    let owner = asked.owner()?;
    let under = owner.key();
    let paging = PageQuery::of(asked)?;
    let total = cx.count(&ObjectKind::EVENT.list(&under))?;
    let Some(start) = request::moment(asked, "start_date")? else {
        let top = total.saturating_sub(paging.skip());
        let below = top.saturating_sub(paging.size)..top;
        let numbers = below.rev().map(|below| below.saturating_add(1));
        return Ok(paging.page_of(total, read(cx, &under, numbers)?));
    };
    let prefix = format!("evt/{under}/");
    let before = format!("{prefix}{}", store::millis(start));
    let found = cx.scan(&prefix, Some(&before), 1)?;
    let end = total.saturating_add(1);
    let first = found.first().and_then(|(_, number)| number.as_u64()).unwrap_or(end);
    let from = first.saturating_add(paging.skip());
    let results = read(cx, &under, from..from.saturating_add(paging.size))?;
    Ok(paging.page_of(end.saturating_sub(first), results))
}

fn read(
    cx: &ChangeUnit,
    under: &str,
    numbers: impl IntoIterator<Item = u64>,
) -> Result<Vec<Event>> {
    let mut events = Vec::new();
    for number in numbers {
        let Some(id) = cx.list_entry(&ObjectKind::EVENT.list(under), number)? else { continue };
        let kept: Option<Stored<Event, ()>> = cx.find_any_owner(ObjectKind::EVENT, &id)?;
        events.extend(kept.map(|kept| kept.object));
    }
    Ok(events)
}
