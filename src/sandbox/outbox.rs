//! Outgoing webhooks: to the partner's Event URL (partner-api, Events, Delivery rules), and to the
//! URLs of a merchant (gateway-api, Webhook rules; service-facts, 76).
//!
//! A webhook is stored with the change that causes it, so a crash neither loses nor duplicates it;
//! it is sent at least once. Success is exactly 200. Otherwise it is retried: to the partner every
//! 10 minutes, 25 times after the first; to a merchant after one hour, then two, and so on, 6
//! attempts in all. Nothing here opens a socket: [`crate::sandbox::deliver`] polls the due
//! webhooks.

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

/// Pause between two attempts to the partner.
const RETRY: TimeDelta = TimeDelta::minutes(10);
/// Attempts to the partner, including the first: 25 retries (partner-api, Delivery rules, 2).
const PARTNER_ATTEMPTS_MAX: u32 = 26;
/// Attempts to a URL of a merchant (service-facts, 76).
const MERCHANT_ATTEMPTS_MAX: u32 = 6;
/// Delay of a webhook that others are to overtake.
const OVERTAKEN_FOR: TimeDelta = TimeDelta::minutes(1);
/// Maximum number of logged attempts.
const LOG_MAX: u64 = 10_000;

/// State of a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    Pending,
    Delivered,
    /// Every attempt failed.
    GivenUp,
}

/// Recipient and content of a webhook.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum Message {
    /// To the Event URL, with the reference appended.
    Partner { reference: String, notification: Notification },
    /// To one URL of a merchant: one event, as the events endpoint shows it.
    Merchant { url: String, event: Event },
}

/// A webhook to deliver.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Delivery {
    pub(crate) id: String,
    pub(crate) number: u64,
    pub(crate) message: Message,
    pub(crate) state: State,
    /// Time of the next attempt while it is pending.
    pub(crate) due: Timestamp,
    pub(crate) attempts: u32,
    /// True after a fault let others overtake it.
    pub(crate) overtaken: bool,
}

/// One attempt, or one copy of it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Attempt {
    pub(crate) delivery: String,
    pub(crate) time: Timestamp,
    pub(crate) url: String,
    /// The receiver's status; `None` without an answer.
    pub(crate) status: Option<u16>,
    /// Number of the attempt, from 1.
    #[serde(rename = "attempt")]
    pub(crate) count: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<Trouble>,
}

fn key(number: u64) -> String {
    format!("hook/{}", ordered(number))
}

/// Key prefix of the queue of pending webhooks, ordered by time.
const QUEUE: &str = "hookdue/";

/// Adds a webhook with one event for the partner to the outbox, due at once.
pub(crate) fn send(cx: &mut Cx<'_>, reference: &str, event: PartnerEvent) -> Result<(), Refusal> {
    let notification = Notification { events: vec![event] };
    put(cx, Message::Partner { reference: reference.to_owned(), notification })
}

/// Adds an event for one URL of a merchant to the outbox, due at once.
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

/// Stores a pending webhook and its queue entry.
fn wait(cx: &mut Cx<'_>, delivery: &Delivery) -> Result<(), Refusal> {
    let place = format!("{QUEUE}{}/{}", millis(delivery.due.0), ordered(delivery.number));
    cx.put(&place, &delivery.number)?;
    cx.put(&key(delivery.number), delivery)
}

/// Returns the first due queue key with its webhook.
pub(crate) fn first_due(cx: &Cx<'_>) -> Result<Option<(String, Delivery)>, Refusal> {
    let end = format!("{QUEUE}{}/~", millis(cx.now));
    let Some((place, number)) = cx.scan(QUEUE, None, 1)?.pop().filter(|(at, _)| *at <= end) else {
        return Ok(None);
    };
    let delivery: Option<Delivery> = cx.get(&key(number.as_u64().unwrap_or_default()))?;
    Ok(delivery.map(|delivery| (place, delivery)))
}

/// Delays a webhook so that others overtake it, once.
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

/// Applies the result of an attempt: delivered at 200, else scheduled again or given up. A webhook
/// that was deleted meanwhile stays deleted.
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

/// Returns the pause after this number of attempts; `None` after the last.
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

/// Appends an attempt to the log.
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

/// Returns the target URL: the current Event URL plus the reference (partner-api, `reference`), or
/// the merchant's URL.
pub(crate) fn url(cx: &Cx<'_>, message: &Message) -> String {
    match message {
        Message::Partner { reference, .. } => {
            format!("{}{}", cx.settings.event_url, encode(reference))
        }
        Message::Merchant { url, .. } => url.clone(),
    }
}

/// Returns the body of the POST.
pub(crate) fn body(message: &Message) -> Result<Vec<u8>, Refusal> {
    Ok(match message {
        Message::Partner { notification, .. } => serde_json::to_vec(notification)?,
        Message::Merchant { event, .. } => serde_json::to_vec(event)?,
    })
}

/// Sends a webhook once more, in any state.
///
/// # Errors
///
/// 404 for an unknown id.
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

/// Returns every webhook, oldest first, without its codes, and every logged attempt.
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
