//! Delivery of the service's webhooks, which are doubled, lost, late, overtaken and forged.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::event_posts;
use super::event_posts::GATEWAY_URL;
use super::network::{DelayedDecision, NetBehaviour};
use super::receivers::{AcknowledgedPost, HandoverResult, WebhookReceivers};
use crate::sandbox::state::webhook_delivery;
use crate::sim::actors::applicant::EVENT_URL;
use crate::sim::actors::sandbox_control::{SandboxControl, text};

/// A code that was never issued.
pub const FORGED: &str = "forged-code";
/// Delay before a webhook that was not accepted is sent again.
const AGAIN: Duration = Duration::from_mins(10);

/// Detour of one webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detour {
    /// It is delivered twice.
    Doubled,
    /// It is delivered, and again much later.
    Echoed,
    /// Its first attempt is lost.
    Missed,
    /// Another party takes it, and it is never delivered.
    Swallowed,
    /// It is delivered late, so that newer ones may overtake it.
    Late,
    /// Forged webhooks are delivered before it.
    Forged,
}

/// Every detour; the one after which the content is lost for good is rare.
pub const DETOURS: &[Detour] = &[
    Detour::Doubled,
    Detour::Echoed,
    Detour::Missed,
    Detour::Late,
    Detour::Late,
    Detour::Forged,
    Detour::Swallowed,
];

/// A misdelivered webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Misdelivery {
    /// Number among the webhooks of different content, from 1.
    pub nth: u64,
    pub detour: Detour,
    /// Delay in seconds, if the detour has one.
    pub seconds: u64,
}

impl fmt::Display for Misdelivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nth, detour, seconds } = self;
        match detour {
            Detour::Doubled => write!(f, "webhook {nth} comes twice"),
            Detour::Echoed => write!(f, "webhook {nth} comes again after {seconds} s"),
            Detour::Missed => write!(f, "webhook {nth} is lost until it is sent again"),
            Detour::Swallowed => write!(f, "webhook {nth} never comes"),
            Detour::Late => write!(f, "webhook {nth} comes {seconds} s late"),
            Detour::Forged => write!(f, "forged webhooks come before webhook {nth}"),
        }
    }
}

/// The post office; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct PostOffice(Arc<Mutex<PostState>>);

#[derive(Debug, Default)]
struct PostState {
    calm: bool,
    delayed_decision: Option<DelayedDecision>,
    /// Webhooks to the partner.
    partner: WebhookRoute,
    /// Webhooks to merchants.
    gateway: WebhookRoute,
    /// Late webhooks, with the times at which they are due.
    late: Vec<(Instant, webhook_delivery::OutgoingWebhook)>,
    lost: BTreeSet<String>,
    acknowledged: Vec<AcknowledgedPost>,
}

/// Webhooks of one sort.
#[derive(Debug, Default)]
struct WebhookRoute {
    misdelivered: Vec<Misdelivery>,
    /// Every content so far, in the order of its first attempt.
    seen: Vec<webhook_delivery::OutgoingWebhook>,
}

impl WebhookRoute {
    /// Returns the detour of a webhook: once, however often the sender tries.
    fn take_detour(&mut self, letter: &webhook_delivery::OutgoingWebhook) -> Option<Misdelivery> {
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
    /// Returns the post office of a run.
    pub(crate) fn new(net: &NetBehaviour) -> Self {
        let way = |strays: &[Misdelivery]| WebhookRoute {
            misdelivered: strays.to_vec(),
            seen: Vec::new(),
        };
        let posts = net.gateway.as_ref().map_or(&[][..], |gateway| &gateway.misdelivered);
        let (partner, gateway) = (way(&net.misdelivered), way(posts));
        let bag = PostState {
            delayed_decision: net.delayed_decision,
            partner,
            gateway,
            ..PostState::default()
        };
        Self(Arc::new(Mutex::new(bag)))
    }

    fn state(&self) -> MutexGuard<'_, PostState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops all new detours; late webhooks are still delivered when they are due.
    pub(crate) fn stop_detours(&self) {
        let mut bag = self.state();
        bag.partner.misdelivered.clear();
        bag.gateway.misdelivered.clear();
        bag.calm = true;
    }

    /// Returns the pause of the delivery loop, which is longer if only late webhooks remain.
    pub(crate) fn poll_pause(&self) -> Duration {
        let bag = self.state();
        let long = bag.calm && !bag.late.is_empty();
        Duration::from_secs(if long { 20 } else { 1 })
    }

    /// Returns reference and event of every webhook that was never delivered.
    pub(crate) fn lost_webhooks(&self) -> BTreeSet<String> {
        self.state().lost.clone()
    }

    /// Delivers one webhook. Returns the status for the sender.
    pub(crate) async fn deliver_webhook(
        &self,
        letter: webhook_delivery::OutgoingWebhook,
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

    /// Returns the forged webhooks that are delivered before this one.
    fn forgeries(
        &self,
        letter: &webhook_delivery::OutgoingWebhook,
    ) -> Vec<webhook_delivery::OutgoingWebhook> {
        if letter.url.starts_with(GATEWAY_URL) {
            event_posts::forged_posts(letter, &self.state().gateway.seen)
        } else {
            forged_webhooks(letter)
        }
    }

    /// Returns every posted event that was acknowledged as stored.
    pub(crate) fn acknowledged_posts(&self) -> Vec<AcknowledgedPost> {
        self.state().acknowledged.clone()
    }

    /// Hands a webhook over. Returns the status for the sender.
    async fn deliver(
        &self,
        letter: webhook_delivery::OutgoingWebhook,
        doors: &WebhookReceivers,
    ) -> Option<u16> {
        let HandoverResult { status, stored } = doors.deliver(letter).await?;
        self.state().acknowledged.extend(stored);
        Some(status)
    }

    fn delay(&self, letter: webhook_delivery::OutgoingWebhook, later: Duration) {
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
        for application in desk.applications().await {
            let order = match (text(&application, "state"), thoughts.approves_after_s) {
                ("submitted", _) => json!({"decision": "decline"}),
                ("declined", Some(after)) if desk.age_s(&application, "decided") >= after => {
                    json!({"decision": "approve", "reconsidered": true})
                }
                _ => continue,
            };
            let id = application.get("id").map(ToString::to_string).unwrap_or_default();
            desk.decide(id.trim_matches('"'), &order).await;
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
        desk.applications().await.iter().any(|one| open(text(one, "state")))
    }
}

impl PostState {
    /// Returns the route of a webhook.
    fn route(&mut self, letter: &webhook_delivery::OutgoingWebhook) -> &mut WebhookRoute {
        let own = letter.url.starts_with(GATEWAY_URL);
        if own { &mut self.gateway } else { &mut self.partner }
    }
}

/// Returns the reference and the event of a webhook.
fn reference_and_event(letter: &webhook_delivery::OutgoingWebhook) -> String {
    let said: Value = serde_json::from_slice(&letter.body).unwrap_or_default();
    let event = said.pointer("/events/0/type").and_then(Value::as_str).unwrap_or_default();
    format!("{} {event}", letter.url.strip_prefix(EVENT_URL).unwrap_or_default())
}

/// Returns webhooks that the service never sent: one with an unknown reference, ones whose path and
/// content differ, and one of an event without meaning.
fn forged_webhooks(
    letter: &webhook_delivery::OutgoingWebhook,
) -> Vec<webhook_delivery::OutgoingWebhook> {
    let approval = |reference: &str| {
        let data = json!({"auth_code": FORGED, "reference": reference});
        json!({"type": "merchant.provisioned", "data": data})
    };
    let of = |url: String, event: Value| webhook_delivery::OutgoingWebhook {
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
