//! Notifications on their way: to the partner's Event URL (partner-api, Events, Delivery rules), and to the URLs of a
//! merchant (gateway-api, Webhook rules; service-facts, 76).
//!
//! What is to be sent is stored with the change that causes it, so that it is neither lost nor made twice by
//! a crash; it is sent at least once. Success is exactly 200. Otherwise it is tried again: to the partner every
//! 10 minutes, 25 times after the first; to a merchant after one hour, then two, and so on, 6 times in all. Nothing here
//! opens a socket: [`crate::sandbox::deliver`] asks for what is due.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::api::encode;
use crate::api::event::Event;
use crate::api::partner_event::{Notification, PartnerEvent};
use crate::api::wire::Timestamp;
use crate::sandbox::events::millis;
use crate::sandbox::fault::Trouble;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::{Cx, ordered};

/// How long after an attempt the next one to the partner comes.
const RETRY: TimeDelta = TimeDelta::minutes(10);
/// Attempts at the partner, the first included: 25 retries (partner-api, Delivery rules, 2).
const PARTNER_ATTEMPTS_MAX: u32 = 26;
/// Attempts at a URL of a merchant (service-facts, 76).
const MERCHANT_ATTEMPTS_MAX: u32 = 6;
/// How long a notification waits that others are to overtake.
const OVERTAKEN_FOR: TimeDelta = TimeDelta::minutes(1);
/// Attempts that the log keeps.
const LOG_MAX: u64 = 10_000;

/// What became of a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    Pending,
    Delivered,
    /// Every attempt failed.
    GivenUp,
}

/// Whom a notification is for, and what it says.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum Message {
    /// To the Event URL plus the reference.
    Partner { reference: String, notification: Notification },
    /// To one URL of a merchant: one event, as the events endpoint gives it.
    Merchant { url: String, event: Event },
}

/// One notification.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Delivery {
    pub(crate) id: String,
    pub(crate) number: u64,
    pub(crate) message: Message,
    pub(crate) state: State,
    /// When it is tried next, while it is pending.
    pub(crate) due: Timestamp,
    pub(crate) attempts: u32,
    /// Did others overtake it on order?
    pub(crate) overtaken: bool,
}

/// One attempt, or one copy of it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Attempt {
    pub(crate) delivery: String,
    pub(crate) time: Timestamp,
    pub(crate) url: String,
    /// What the receiver answered; nothing when it did not.
    pub(crate) status: Option<u16>,
    /// Which attempt of its notification, from 1.
    #[serde(rename = "attempt")]
    pub(crate) count: u32,
    /// The fault that struck it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<Trouble>,
}

fn key(number: u64) -> String {
    format!("hook/{}", ordered(number))
}

/// Where the pending ones wait, in the order of their time.
const QUEUE: &str = "hookdue/";

/// Puts a notification of one event for the partner into the outbox, to be sent at once.
pub(crate) fn send(cx: &mut Cx<'_>, reference: &str, event: PartnerEvent) -> Result<(), Refusal> {
    let notification = Notification { events: vec![event] };
    put(cx, Message::Partner { reference: reference.to_owned(), notification })
}

/// Puts an event for one URL of a merchant into the outbox, to be sent at once.
pub(crate) fn announce(cx: &mut Cx<'_>, url: &str, event: Event) -> Result<(), Refusal> {
    put(cx, Message::Merchant { url: url.to_owned(), event })
}

fn put(cx: &mut Cx<'_>, message: Message) -> Result<(), Refusal> {
    let delivery = Delivery {
        id: cx.id(),
        number: cx.next(),
        message,
        state: State::Pending,
        due: Timestamp(cx.now),
        attempts: 0,
        overtaken: false,
    };
    wait(cx, &delivery)
}

/// Stores a pending notification and its place in the queue.
fn wait(cx: &mut Cx<'_>, delivery: &Delivery) -> Result<(), Refusal> {
    let place = format!("{QUEUE}{}/{}", millis(delivery.due.0), ordered(delivery.number));
    cx.put(&place, &delivery.number)?;
    cx.put(&key(delivery.number), delivery)
}

/// The first place in the queue whose time has come, and the notification that waits there.
pub(crate) fn first_due(cx: &Cx<'_>) -> Result<Option<(String, Delivery)>, Refusal> {
    let end = format!("{QUEUE}{}/~", millis(cx.now));
    let Some((place, number)) = cx.scan(QUEUE, None, 1)?.pop().filter(|(at, _)| *at <= end) else {
        return Ok(None);
    };
    let delivery: Option<Delivery> = cx.get(&key(number.as_u64().unwrap_or_default()))?;
    Ok(delivery.map(|delivery| (place, delivery)))
}

/// Lets others overtake a notification, once.
pub(crate) fn hold_back(
    cx: &mut Cx<'_>,
    place: &str,
    mut delivery: Delivery,
) -> Result<(), Refusal> {
    cx.remove(place);
    delivery.overtaken = true;
    delivery.due = Timestamp(after(cx.now, OVERTAKEN_FOR));
    wait(cx, &delivery)
}

/// Takes the result of an attempt that began at this place: done at 200, else again later, or never again.
/// A notification that was forgotten meanwhile stays so.
pub(crate) fn settle(
    cx: &mut Cx<'_>,
    place: &str,
    mut delivery: Delivery,
    status: Option<u16>,
) -> Result<(), Refusal> {
    if cx.get::<Delivery>(&key(delivery.number))?.is_none_or(|known| known.id != delivery.id) {
        return Ok(());
    }
    cx.remove(place);
    delivery.attempts = delivery.attempts.saturating_add(1);
    if status == Some(200) {
        delivery.state = State::Delivered;
    } else if let Some(pause) = pause(&delivery.message, delivery.attempts) {
        delivery.due = Timestamp(after(cx.now, pause));
        return wait(cx, &delivery);
    } else {
        delivery.state = State::GivenUp;
    }
    cx.put(&key(delivery.number), &delivery)
}

/// How long after so many attempts the next one comes; `None`: it was the last.
fn pause(message: &Message, attempts: u32) -> Option<TimeDelta> {
    match message {
        Message::Partner { .. } => (attempts < PARTNER_ATTEMPTS_MAX).then_some(RETRY),
        Message::Merchant { .. } => {
            (attempts < MERCHANT_ATTEMPTS_MAX).then(|| TimeDelta::hours(i64::from(attempts)))
        }
    }
}

fn after(time: DateTime<Utc>, delay: TimeDelta) -> DateTime<Utc> {
    time.checked_add_signed(delay).unwrap_or(time)
}

/// Writes an attempt down.
pub(crate) fn log(cx: &mut Cx<'_>, attempt: &Attempt) -> Result<(), Refusal> {
    let number = cx.get::<u64>(LOGGED)?.unwrap_or(0).saturating_add(1);
    cx.put(LOGGED, &number)?;
    cx.put(&format!("hooklog/{}", ordered(number)), attempt)?;
    if let Some(old) = number.checked_sub(LOG_MAX) {
        cx.remove(&format!("hooklog/{}", ordered(old)));
    }
    Ok(())
}

const LOGGED: &str = "meta/hooks";

/// Where a notification goes: to the Event URL plus the reference (partner-api, `reference`), as it is set now, or to
/// the merchant's own.
pub(crate) fn url(cx: &Cx<'_>, message: &Message) -> String {
    match message {
        Message::Partner { reference, .. } => {
            format!("{}{}", cx.settings.event_url, encode(reference))
        }
        Message::Merchant { url, .. } => url.clone(),
    }
}

/// What is posted.
pub(crate) fn body(message: &Message) -> Result<Vec<u8>, Refusal> {
    Ok(match message {
        Message::Partner { notification, .. } => serde_json::to_vec(notification)?,
        Message::Merchant { event, .. } => serde_json::to_vec(event)?,
    })
}

/// Sends a notification once more, whatever became of it. Errors: 404 for none of this id.
pub(crate) fn redeliver(cx: &mut Cx<'_>, id: &str) -> Result<Value, Refusal> {
    let all = all(cx)?.into_iter().find(|delivery| delivery.id == id);
    let mut delivery = all.ok_or_else(|| Refusal::missing("Webhook", id))?;
    delivery.state = State::Pending;
    delivery.due = Timestamp(cx.now);
    delivery.attempts = 0;
    wait(cx, &delivery)?;
    Ok(shown(&delivery))
}

fn all(cx: &Cx<'_>) -> Result<Vec<Delivery>, Refusal> {
    let all = cx.scan("hook/", None, usize::MAX)?;
    all.into_iter().map(|(_, value)| Ok(serde_json::from_value(value)?)).collect()
}

/// Every notification, oldest first, without its codes; and every attempt.
pub(crate) fn show(cx: &Cx<'_>) -> Result<Value, Refusal> {
    let deliveries: Vec<Value> = all(cx)?.iter().map(shown).collect();
    let log = cx.scan("hooklog/", None, usize::MAX)?;
    let log: Vec<Value> = log.into_iter().map(|(_, attempt)| attempt).collect();
    let event_url = &cx.settings.event_url;
    Ok(json!({ "event_url": event_url, "deliveries": deliveries, "log": log }))
}

fn shown(delivery: &Delivery) -> Value {
    let (whom, whose, events) = match &delivery.message {
        Message::Partner { reference, notification } => {
            let kinds = notification.events.iter().map(|event| event.kind.as_str().to_owned());
            ("reference", reference, kinds.collect::<Vec<_>>())
        }
        Message::Merchant { url, event } => ("url", url, vec![event.kind.clone()]),
    };
    json!({
        "id": delivery.id,
        whom: whose,
        "events": events,
        "state": delivery.state,
        "attempts": delivery.attempts,
        "due": (delivery.state == State::Pending).then_some(delivery.due),
    })
}
