//! Delivery of the service's webhooks, which are doubled, lost, late, overtaken and forged, to the
//! receivers of one life of the machine.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};

use crate::base::id::{Key, Mode};
use crate::engine::events::receiver::{EventReceiver, Receipt};
use crate::engine::handles::shared::EngineShared;
use crate::engine::protocol::input::{EngineInput, IncomingWebhook};
use crate::sandbox::webhooks::OutgoingWebhook;
use crate::sim::plan::documents::{Doc, DocBody};
use crate::sim::plan::network::{DelayedDecision, Detour, Misdelivery, NetBehaviour};
use crate::sim::service::control::{EVENT_URL, GATEWAY_URL, text};
use crate::sim::service::sandbox::SandboxControl;

/// Delay before a webhook that was not accepted is sent again.
const AGAIN: Duration = Duration::from_mins(10);

#[derive(Debug, Clone, Default)]
pub(crate) struct PostOffice(Arc<Mutex<PostState>>);

#[derive(Debug, Default)]
pub(crate) struct PostState {
    calm: bool,
    delayed_decision: Option<DelayedDecision>,
    partner: WebhookRoute,
    gateway: WebhookRoute,
    /// Late webhooks, with the times at which they are due.
    late: Vec<(Instant, OutgoingWebhook)>,
    /// Reference and event of every webhook that was never delivered.
    pub(crate) lost: BTreeSet<String>,
    pub(crate) acknowledged: Vec<AcknowledgedPost>,
}

#[derive(Debug, Default)]
struct WebhookRoute {
    misdelivered: Vec<Misdelivery>,
    /// Every content so far, in the order of its first attempt.
    seen: Vec<OutgoingWebhook>,
}

impl WebhookRoute {
    /// Returns the detour of a webhook: once, however often the sender tries.
    fn take_detour(&mut self, letter: &OutgoingWebhook) -> Option<Misdelivery> {
        let known = self.seen.iter().position(|one| one == letter);
        let place = known.unwrap_or(self.seen.len());
        if known.is_none() {
            self.seen.push(letter.clone());
        }
        let nth = u64::try_from(place).unwrap_or(u64::MAX).saturating_add(1);
        let at = self.misdelivered.iter().position(|stray| stray.nth == nth)?;
        Some(self.misdelivered.remove(at))
    }
}

impl PostOffice {
    pub(crate) fn new(net: &NetBehaviour) -> Self {
        let mut state =
            PostState { delayed_decision: net.delayed_decision, ..PostState::default() };
        state.partner.misdelivered.clone_from(&net.misdelivered);
        state.gateway.misdelivered = net.gateway.clone().unwrap_or_default();
        Self(Arc::new(Mutex::new(state)))
    }

    /// Stops all new detours; late webhooks are still delivered when they are due.
    pub(crate) fn stop_detours(&self) {
        let mut state = self.state();
        state.partner.misdelivered.clear();
        state.gateway.misdelivered.clear();
        state.calm = true;
    }

    /// Returns the pause of the delivery loop, which is longer if only late webhooks remain.
    pub(crate) fn poll_pause(&self) -> Duration {
        let state = self.state();
        let long = state.calm && !state.late.is_empty();
        Duration::from_secs(if long { 20 } else { 1 })
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, PostState> {
        self.0.lock()
    }

    /// Delivers one webhook. Returns the status for the sender.
    pub(crate) async fn deliver_webhook(
        &self,
        letter: OutgoingWebhook,
        doors: &WebhookReceivers,
    ) -> Option<u16> {
        let stray = self.state().route(&letter).take_detour(&letter);
        let later = stray.map_or(Duration::ZERO, |stray| Duration::from_secs(stray.seconds));
        match stray.map(|stray| stray.detour) {
            None => self.deliver(letter, doors).await,
            Some(Detour::Missed) => None,
            Some(Detour::Doubled) => {
                self.deliver(letter.clone(), doors).await?;
                self.deliver(letter, doors).await
            }
            Some(Detour::Echoed) => {
                self.delay(letter.clone(), later);
                self.deliver(letter, doors).await
            }
            Some(Detour::Late) => {
                self.delay(letter, later);
                Some(200)
            }
            Some(Detour::Swallowed) => {
                self.state().lost.insert(reference_and_event(&letter));
                Some(200)
            }
            Some(Detour::Forged) => {
                for forged in self.forgeries(&letter) {
                    self.deliver(forged, doors).await?;
                }
                self.deliver(letter, doors).await
            }
        }
    }

    fn forgeries(&self, letter: &OutgoingWebhook) -> Vec<OutgoingWebhook> {
        if letter.url.starts_with(GATEWAY_URL) {
            forged_posts(letter, &self.state().gateway.seen)
        } else {
            forged_webhooks(letter)
        }
    }

    async fn deliver(&self, letter: OutgoingWebhook, doors: &WebhookReceivers) -> Option<u16> {
        let (status, stored) = doors.deliver(letter).await?;
        self.state().acknowledged.extend(stored);
        Some(status)
    }

    fn delay(&self, letter: OutgoingWebhook, later: Duration) {
        let now = Instant::now();
        self.state().late.push((now.checked_add(later).unwrap_or(now), letter));
    }

    /// Delivers every late webhook that is due. An event that is not accepted is left to the list
    /// of events.
    pub(crate) async fn deliver_late(&self, doors: &WebhookReceivers) {
        let now = Instant::now();
        let due: Vec<_> = self.state().late.extract_if(.., |(due, _)| *due <= now).collect();
        for (_, letter) in due {
            let taken = self.deliver(letter.clone(), doors).await == Some(200);
            if !taken && !letter.url.starts_with(GATEWAY_URL) {
                self.delay(letter, AGAIN);
            }
        }
    }

    /// Lets underwriting look at submitted applications, where it decides twice.
    pub(crate) async fn decide(&self, desk: &SandboxControl) {
        let Some(thoughts) = self.state().delayed_decision else { return };
        for application in desk.control.all("applications").await {
            let order = match (text(&application, "state"), thoughts.approves_after_s) {
                ("submitted", _) => json!({"decision": "decline"}),
                ("declined", Some(after)) if desk.age_s(&application, "decided") >= after => {
                    json!({"decision": "approve", "reconsidered": true})
                }
                _ => continue,
            };
            let id = application.get("id").map(ToString::to_string).unwrap_or_default();
            let path = format!("applications/{}/decision", id.trim_matches('"'));
            desk.control.post_control(&path, &order).await;
        }
    }

    /// Waits until no webhook is late any more, and underwriting has nothing left to decide.
    pub(crate) async fn wait_until_idle(&self, desk: &SandboxControl) {
        while !self.state().late.is_empty() || self.has_open_decisions(desk).await {
            sleep(Duration::from_secs(30)).await;
        }
    }

    async fn has_open_decisions(&self, desk: &SandboxControl) -> bool {
        let Some(thoughts) = self.state().delayed_decision else { return false };
        let open = |state: &str| {
            state == "submitted" || state == "declined" && thoughts.approves_after_s.is_some()
        };
        desk.control.all("applications").await.iter().any(|one| open(text(one, "state")))
    }
}

impl PostState {
    fn route(&mut self, letter: &OutgoingWebhook) -> &mut WebhookRoute {
        let own = letter.url.starts_with(GATEWAY_URL);
        if own { &mut self.gateway } else { &mut self.partner }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct AcknowledgedPost {
    pub merchant: String,
    pub event: String,
    /// Number of the last durable record when the post was acknowledged.
    pub head: u64,
}

fn reference_and_event(letter: &OutgoingWebhook) -> String {
    let said: Value = serde_json::from_slice(&letter.body).unwrap_or_default();
    let event = said.pointer("/events/0/type").and_then(Value::as_str).unwrap_or_default();
    format!("{} {event}", letter.url.strip_prefix(EVENT_URL).unwrap_or_default())
}

/// HTTP status for the sender, and the stored post, if it was an event.
type HandoverResult = (u16, Option<AcknowledgedPost>);

/// Way to the engine of the current life.
pub(crate) type EngineSender = mpsc::Sender<EngineInput>;

#[derive(Debug)]
pub(crate) struct WebhookReceivers {
    pub(crate) engine: EngineSender,
    pub(crate) inbox: EventReceiver,
    pub(crate) shared: Arc<EngineShared>,
}

pub(crate) fn key_of(merchant: &str) -> Option<Key> {
    Doc::new(merchant, DocBody::Merchant).address().parse().ok()
}

impl WebhookReceivers {
    /// Delivers a webhook. Returns `None` if the engine did not answer.
    async fn deliver(&self, letter: OutgoingWebhook) -> Option<HandoverResult> {
        if let Some(merchant) = letter.url.strip_prefix(GATEWAY_URL) {
            return self.post_event(merchant, &letter.body).await;
        }
        let reference = letter.url.strip_prefix(EVENT_URL)?.to_owned();
        let notice = IncomingWebhook { generation: 0, reference, body: letter.body };
        let (stored, answer) = oneshot::channel();
        self.engine.send(EngineInput::PartnerWebhook(notice, stored)).await.ok()?;
        answer.await.is_ok().then_some((200, None))
    }

    async fn post_event(&self, merchant: &str, body: &[u8]) -> Option<HandoverResult> {
        let taken = self.inbox.post(&key_of(merchant)?, Mode::Test, body).await.ok()?;
        let status = match taken {
            Receipt::Stored => 200,
            Receipt::Malformed => 400,
            Receipt::Unknown => 404,
            Receipt::Full => 503,
        };
        let said: Value = serde_json::from_slice(body).unwrap_or_default();
        let stored = (taken == Receipt::Stored).then(|| AcknowledgedPost {
            merchant: merchant.to_owned(),
            event: text(&said, "id").to_owned(),
            head: self.shared.writer.head().sequence,
        });
        Some((status, stored))
    }
}

/// Returns posts that the service never sent to this address: an unknown event, another merchant's
/// event, this event with other content, and malformed JSON.
pub(crate) fn forged_posts(
    letter: &OutgoingWebhook,
    earlier: &[OutgoingWebhook],
) -> Vec<OutgoingWebhook> {
    let event: Value = serde_json::from_slice(&letter.body).unwrap_or_default();
    let with = |body: Vec<u8>| OutgoingWebhook { url: letter.url.clone(), body };
    let mut unknown = event.clone();
    let id: String = text(&event, "id").chars().rev().collect();
    set_field(&mut unknown, "id", json!(id));
    let mut all = vec![with(unknown.to_string().into_bytes()), with(b"{".to_vec())];
    let theirs = earlier.iter().rev().find(|one| one.url != letter.url);
    all.extend(theirs.map(|one| with(one.body.clone())));
    let mut other = event;
    if let Some(data) = other.get_mut("data") {
        let amount = data.get("amount").and_then(Value::as_i64);
        set_field(data, "status", json!("VOIDED"));
        set_field(data, "amount", json!(amount.unwrap_or(0).saturating_add(1)));
    }
    all.push(with(other.to_string().into_bytes()));
    all
}

fn set_field(object: &mut Value, field: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(field.to_owned(), value);
    }
}

/// A code that was never issued.
pub const FORGED: &str = "forged-code";

/// Returns webhooks that the service never sent: one with an unknown reference, ones whose path and
/// content differ, and one of an event without meaning.
pub(crate) fn forged_webhooks(letter: &OutgoingWebhook) -> Vec<OutgoingWebhook> {
    let approval = |reference: &str| {
        let data = json!({"auth_code": FORGED, "reference": reference});
        json!({"type": "merchant.provisioned", "data": data})
    };
    let of = |url: String, event: Value| OutgoingWebhook {
        url,
        body: json!({"events": [event]}).to_string().into_bytes(),
    };
    let reference = letter.url.strip_prefix(EVENT_URL).unwrap_or_default();
    let asks = json!({"type": "merchant_application.information_needed",
        "data": {"reference": reference, "auth_code": FORGED}});
    vec![
        of(format!("{EVENT_URL}rk000"), approval("rk000")),
        of(format!("{EVENT_URL}rk000"), approval(reference)),
        of(letter.url.clone(), approval("rk000")),
        of(letter.url.clone(), asks),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::service::control::GATEWAY_URL;

    fn letter(merchant: &str, id: &str) -> OutgoingWebhook {
        let event = json!({"id": id, "type": "transaction.created", "created": "2027-01-15T08:00:00.000Z",
            "data": {"id": "t1", "status": "PENDING", "amount": 700}});
        OutgoingWebhook {
            url: format!("{GATEWAY_URL}{merchant}"),
            body: event.to_string().into_bytes(),
        }
    }

    #[test]
    fn forged_posts_come_to_the_address_of_the_real_one_and_are_none_of_its_own() {
        let (own, theirs) = (letter("m0", "abc"), letter("m1", "xyz"));
        let forged = forged_posts(&own, &[own.clone(), theirs.clone()]);
        assert!(forged.iter().all(|one| one.url == own.url && one.body != own.body));
        let said =
            |one: &OutgoingWebhook| serde_json::from_slice::<Value>(&one.body).unwrap_or_default();
        let ids: Vec<String> = forged.iter().map(|one| text(&said(one), "id").to_owned()).collect();
        assert_eq!(ids, ["cba", "", "xyz", "abc"]);
        let last = said(forged.last().unwrap());
        let told = |path: &str| last.pointer(path).cloned().unwrap_or_default();
        assert_eq!((told("/data/status"), told("/data/amount")), (json!("VOIDED"), json!(701)));
        assert_eq!(forged[2].body, theirs.body);
    }
}
