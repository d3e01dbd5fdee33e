//! Outgoing webhooks: to the partner's Event URL (partner-api, Events, Delivery rules), and to the
//! URLs of a merchant (gateway-api, Webhook rules; service-facts, 76).
//!
//! A webhook is stored with the change that causes it, so a crash neither loses nor duplicates it;
//! it is sent at least once. Success is exactly 200. Otherwise it is retried: to the partner every
//! 10 minutes, 25 times after the first; to a merchant after one hour, then two, and so on, 6
//! attempts in all. Nothing here opens a socket: `webhooks` polls the due webhooks.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::api::call::encode;
use crate::api::event::{Event, Notification, PartnerEvent};
use crate::api::wire::Timestamp;
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::state::faults::FaultKind;
use crate::sandbox::state::store::{ChangeUnit, millis, sortable_key};

const RETRY: TimeDelta = TimeDelta::minutes(10);
/// Attempts to the partner, including the first: 25 retries (partner-api, Delivery rules, 2).
const PARTNER_ATTEMPTS_MAX: u32 = 26;
/// Attempts to a URL of a merchant (service-facts, 76).
const MERCHANT_ATTEMPTS_MAX: u32 = 6;
/// Delay of a webhook that others are to overtake.
const OVERTAKEN_FOR: TimeDelta = TimeDelta::minutes(1);
const LOG_MAX: u64 = 10_000;
const LOG_COUNT: &str = "meta/hooks";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DeliveryState {
    Pending,
    Delivered,
    GivenUp,
}

/// Recipient and content of a webhook.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum WebhookMessage {
    /// To the Event URL, with the reference appended.
    Partner { reference: String, notification: Notification },
    /// To one URL of a merchant: one event, as the events endpoint shows it.
    Merchant { url: String, event: Event },
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Delivery {
    pub(crate) id: String,
    pub(crate) number: u64,
    pub(crate) message: WebhookMessage,
    pub(crate) state: DeliveryState,
    /// Time of the next attempt while it is pending.
    pub(crate) due: Timestamp,
    pub(crate) attempts: u32,
    /// True after a fault let others overtake it.
    #[serde(rename = "overtaken")]
    pub(crate) was_held_back: bool,
}

/// One attempt to deliver, or one copy of it.
#[derive(Serialize, Deserialize)]
pub(crate) struct WebhookAttempt {
    pub(crate) delivery: String,
    pub(crate) time: Timestamp,
    pub(crate) url: String,
    /// The receiver's status; `None` without an answer.
    pub(crate) status: Option<u16>,
    /// Number of the attempt, from 1.
    #[serde(rename = "attempt")]
    pub(crate) count: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<FaultKind>,
}

/// Key prefix of the webhooks, by number.
const ALL: &str = "hook/";
/// Key prefix of the queue of pending webhooks, ordered by time.
const QUEUE: &str = "hookdue/";

fn key(number: u64) -> String {
    format!("{ALL}{}", sortable_key(number))
}

/// Adds a webhook with one event for the partner to the outbox.
pub(crate) fn send(cx: &mut ChangeUnit, reference: &str, event: PartnerEvent) -> Result<()> {
    let notification = Notification { events: vec![event] };
    enqueue_message(cx, WebhookMessage::Partner { reference: reference.to_owned(), notification })
}

/// Adds a webhook to the outbox, due at once.
pub(crate) fn enqueue_message(cx: &mut ChangeUnit, message: WebhookMessage) -> Result<()> {
    let delivery = Delivery {
        id: cx.fresh_gateway_id(),
        number: cx.next(),
        message,
        state: DeliveryState::Pending,
        due: Timestamp(cx.now),
        attempts: 0,
        was_held_back: false,
    };
    enqueue(cx, &delivery)
}

fn enqueue(cx: &mut ChangeUnit, delivery: &Delivery) -> Result<()> {
    let place = format!("{QUEUE}{}/{}", millis(delivery.due.0), sortable_key(delivery.number));
    cx.put(&place, &delivery.number)?;
    cx.put(&key(delivery.number), delivery)
}

pub(crate) fn first_due(cx: &ChangeUnit) -> Result<Option<(String, Delivery)>> {
    let end = format!("{QUEUE}{}/~", millis(cx.now));
    let Some((place, number)) = cx.scan(QUEUE, None, 1)?.pop().filter(|(at, _)| *at <= end) else {
        return Ok(None);
    };
    let delivery: Option<Delivery> = cx.get(&key(number.as_u64().unwrap_or_default()))?;
    Ok(delivery.map(|delivery| (place, delivery)))
}

/// Delays a webhook so that others overtake it, once.
pub(crate) fn hold_back(cx: &mut ChangeUnit, place: &str, mut delivery: Delivery) -> Result<()> {
    cx.remove(place);
    delivery.was_held_back = true;
    delivery.due = Timestamp(cx.after(OVERTAKEN_FOR));
    enqueue(cx, &delivery)
}

/// Applies the result of an attempt: delivered at 200, else scheduled again or given up. A webhook
/// that was deleted meanwhile stays deleted.
pub(crate) fn settle(
    cx: &mut ChangeUnit,
    place: &str,
    mut delivery: Delivery,
    status: Option<u16>,
) -> Result<()> {
    if cx.get::<Delivery>(&key(delivery.number))?.is_none_or(|known| known.id != delivery.id) {
        return Ok(());
    }
    cx.remove(place);
    delivery.attempts = delivery.attempts.saturating_add(1);
    if status == Some(200) {
        delivery.state = DeliveryState::Delivered;
    } else if let Some(pause) = retry_delay(&delivery.message, delivery.attempts) {
        delivery.due = Timestamp(cx.after(pause));
        return enqueue(cx, &delivery);
    } else {
        delivery.state = DeliveryState::GivenUp;
    }
    cx.put(&key(delivery.number), &delivery)
}

/// Returns the pause after this number of attempts; `None` after the last.
fn retry_delay(message: &WebhookMessage, attempts: u32) -> Option<TimeDelta> {
    let (most, pause) = match message {
        WebhookMessage::Partner { .. } => (PARTNER_ATTEMPTS_MAX, RETRY),
        WebhookMessage::Merchant { .. } => {
            (MERCHANT_ATTEMPTS_MAX, TimeDelta::hours(attempts.into()))
        }
    };
    (attempts < most).then_some(pause)
}

pub(crate) fn log(cx: &mut ChangeUnit, attempt: &WebhookAttempt) -> Result<()> {
    let number = cx.get::<u64>(LOG_COUNT)?.unwrap_or(0).saturating_add(1);
    cx.put(LOG_COUNT, &number)?;
    cx.put(&format!("hooklog/{}", sortable_key(number)), attempt)?;
    if let Some(old) = number.checked_sub(LOG_MAX) {
        cx.remove(&format!("hooklog/{}", sortable_key(old)));
    }
    Ok(())
}

/// Returns the target: the current Event URL plus the `reference`, or the merchant's URL.
pub(crate) fn url(cx: &ChangeUnit, message: &WebhookMessage) -> String {
    match message {
        WebhookMessage::Partner { reference, .. } => {
            format!("{}{}", cx.settings.event_url, encode(reference))
        }
        WebhookMessage::Merchant { url, .. } => url.clone(),
    }
}

pub(crate) fn body(message: &WebhookMessage) -> Result<Vec<u8>> {
    Ok(match message {
        WebhookMessage::Partner { notification, .. } => serde_json::to_vec(notification)?,
        WebhookMessage::Merchant { event, .. } => serde_json::to_vec(event)?,
    })
}

/// Sends a webhook once more, in any state. 404 for an unknown id.
pub(crate) fn redeliver(cx: &mut ChangeUnit, id: &str) -> Result<Value> {
    let all = cx.values::<Delivery>(ALL)?.into_iter().find(|delivery| delivery.id == id);
    let mut delivery = all.ok_or_else(|| SandboxRefusal::not_found("Webhook", id))?;
    delivery.state = DeliveryState::Pending;
    delivery.due = Timestamp(cx.now);
    delivery.attempts = 0;
    enqueue(cx, &delivery)?;
    Ok(render_delivery(&delivery))
}

/// Returns every webhook, oldest first, without its codes, and every logged attempt.
pub(crate) fn show(cx: &ChangeUnit) -> Result<Value> {
    let deliveries: Vec<Value> = cx.values(ALL)?.iter().map(render_delivery).collect();
    let log: Vec<Value> = cx.values("hooklog/")?;
    let event_url = &cx.settings.event_url;
    Ok(json!({ "event_url": event_url, "deliveries": deliveries, "log": log }))
}

fn render_delivery(delivery: &Delivery) -> Value {
    let (whom, whose, events) = match &delivery.message {
        WebhookMessage::Partner { reference, notification } => {
            let kinds = notification.events.iter().map(|event| event.kind.as_str().to_owned());
            ("reference", reference, kinds.collect::<Vec<_>>())
        }
        WebhookMessage::Merchant { url, event } => ("url", url, vec![event.kind.clone()]),
    };
    json!({
        "id": delivery.id,
        whom: whose,
        "events": events,
        "state": delivery.state,
        "attempts": delivery.attempts,
        "due": (delivery.state == DeliveryState::Pending).then_some(delivery.due),
    })
}
