//! The log of events (gateway-api, Events): appended, listed and read, never changed.
//!
//! Events of an owner are numbered, so that any page and any start date is found without a scan.

use serde::Serialize;

use crate::api::call::Page;
use crate::api::event::Event;
use crate::api::wire::Timestamp;
use crate::sandbox::answer::Result;
use crate::sandbox::request::{self, PageQuery, ParsedRequest};
use crate::sandbox::state::objects::{MerchantMode, ObjectKind, ObjectOwner, Stored, newest_first};
use crate::sandbox::state::outbox::{self, WebhookMessage};
use crate::sandbox::state::store::{ChangeUnit, millis, sortable_key};

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
    let list = ObjectKind::EVENT.list(&under);
    let number = cx.count(&list)?.saturating_add(1);
    cx.put(&format!("evt/{under}/{}/{}", millis(cx.now), sortable_key(number)), &number)?;
    cx.list_add(&list, number, &id)?;
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
    let list = ObjectKind::EVENT.list(&owner.key());
    Ok(read(cx, &list, std::iter::once(cx.count(&list)?))?.pop())
}

pub(crate) fn get(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<Event> {
    let found = cx.find::<_, ()>(ObjectKind::EVENT, &asked.owner()?, asked.parameter(0));
    found.map(|kept| kept.object)
}

/// GET /v1/events: newest first; with `start_date`, from it on in rising order (service-facts, 75).
pub(crate) fn list(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<Page<Event>> {
    let under = asked.owner()?.key();
    let list = ObjectKind::EVENT.list(&under);
    let paging = PageQuery::of(asked)?;
    let total = cx.count(&list)?;
    let Some(start) = request::moment(asked, "start_date")? else {
        let top = total.saturating_sub(paging.skip());
        let below = top.saturating_sub(paging.size)..top;
        let numbers = below.rev().map(|below| below.saturating_add(1));
        return Ok(paging.page_of(total, read(cx, &list, numbers)?));
    };
    let prefix = format!("evt/{under}/");
    let before = format!("{prefix}{}", millis(start));
    let found = cx.scan(&prefix, Some(&before), 1)?;
    let end = total.saturating_add(1);
    let first = found.first().and_then(|(_, number)| number.as_u64()).unwrap_or(end);
    let from = first.saturating_add(paging.skip());
    let results = read(cx, &list, from..from.saturating_add(paging.size))?;
    Ok(paging.page_of(end.saturating_sub(first), results))
}

fn read(cx: &ChangeUnit, list: &str, numbers: impl Iterator<Item = u64>) -> Result<Vec<Event>> {
    let mut events = Vec::new();
    for number in numbers {
        let Some(id) = cx.get::<String>(&newest_first(list, number))? else { continue };
        let kept: Option<Stored<Event, ()>> = cx.look_up(ObjectKind::EVENT, &id)?;
        events.extend(kept.map(|kept| kept.object));
    }
    Ok(events)
}
