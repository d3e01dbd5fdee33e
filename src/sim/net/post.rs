//! Delivery of the service's webhooks, which are doubled, lost, late, overtaken and forged.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::door::{Answered, Doors, Handed};
use super::gateway::{self, GATEWAY_URL};
use super::{Net, Thoughts};
use crate::sandbox;
use crate::sim::applicant::EVENT_URL;
use crate::sim::desk::{Desk, text};

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
pub struct Stray {
    /// Number among the webhooks of different content, from 1.
    pub nth: u64,
    pub detour: Detour,
    /// Delay in seconds, if the detour has one.
    pub seconds: u64,
}

impl fmt::Display for Stray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nth, detour, seconds } = self;
        match detour {
            Detour::Doubled => write!(f, "notification {nth} comes twice"),
            Detour::Echoed => write!(f, "notification {nth} comes again after {seconds} s"),
            Detour::Missed => write!(f, "notification {nth} is lost until it is sent again"),
            Detour::Swallowed => write!(f, "notification {nth} never comes"),
            Detour::Late => write!(f, "notification {nth} comes {seconds} s late"),
            Detour::Forged => write!(f, "forged ones come before notification {nth}"),
        }
    }
}

/// The post office; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Post(Arc<Mutex<Bag>>);

#[derive(Debug, Default)]
struct Bag {
    calm: bool,
    thoughts: Option<Thoughts>,
    /// Webhooks to the partner.
    partner: Way,
    /// Webhooks to merchants.
    gateway: Way,
    /// Late webhooks, with the times at which they are due.
    late: Vec<(Instant, sandbox::Notice)>,
    swallowed: BTreeSet<String>,
    answered: Vec<Answered>,
}

/// Webhooks of one sort.
#[derive(Debug, Default)]
struct Way {
    strays: Vec<Stray>,
    /// Every content so far, in the order of its first attempt.
    seen: Vec<sandbox::Notice>,
}

impl Way {
    /// Returns the detour of a webhook: once, however often the sender tries.
    fn stray(&mut self, letter: &sandbox::Notice) -> Option<Stray> {
        let known = self.seen.iter().position(|one| one == letter);
        let place = known.unwrap_or(self.seen.len());
        if known.is_none() {
            self.seen.push(letter.clone());
        }
        let nth = u64::try_from(place).unwrap_or(u64::MAX).saturating_add(1);
        let at = self.strays.iter().position(|stray| stray.nth == nth)?;
        Some(self.strays.remove(at))
    }
}

impl Post {
    /// Returns the post office of a run.
    pub(crate) fn new(net: &Net) -> Self {
        let way = |strays: &[Stray]| Way { strays: strays.to_vec(), seen: Vec::new() };
        let posts = net.gateway.as_ref().map_or(&[][..], |gateway| &gateway.strays);
        let (partner, gateway) = (way(&net.strays), way(posts));
        let bag = Bag { thoughts: net.thoughts, partner, gateway, ..Bag::default() };
        Self(Arc::new(Mutex::new(bag)))
    }

    fn bag(&self) -> MutexGuard<'_, Bag> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops all new detours; late webhooks are still delivered when they are due.
    pub(crate) fn calm(&self) {
        let mut bag = self.bag();
        bag.partner.strays.clear();
        bag.gateway.strays.clear();
        bag.calm = true;
    }

    /// Returns the pause of the delivery loop, which is longer if only late webhooks remain.
    pub(crate) fn rest(&self) -> Duration {
        let bag = self.bag();
        let long = bag.calm && !bag.late.is_empty();
        Duration::from_secs(if long { 20 } else { 1 })
    }

    /// Returns reference and event of every webhook that was never delivered.
    pub(crate) fn swallowed(&self) -> BTreeSet<String> {
        self.bag().swallowed.clone()
    }

    /// Delivers one webhook. Returns the status for the sender.
    pub(crate) async fn bring(&self, letter: sandbox::Notice, doors: &Doors) -> Option<u16> {
        let stray = self.bag().way(&letter).stray(&letter);
        let later = stray.map_or(Duration::ZERO, |stray| Duration::from_secs(stray.seconds));
        match stray.map(|stray| stray.detour) {
            None => self.hand_over(letter, doors).await,
            Some(Detour::Missed) => None,
            Some(Detour::Doubled) => {
                self.hand_over(letter.clone(), doors).await?;
                self.hand_over(letter, doors).await
            }
            Some(Detour::Echoed) => {
                self.keep(letter.clone(), later);
                self.hand_over(letter, doors).await
            }
            Some(Detour::Late) => {
                self.keep(letter, later);
                Some(200)
            }
            Some(Detour::Swallowed) => {
                self.bag().swallowed.insert(told(&letter));
                Some(200)
            }
            Some(Detour::Forged) => {
                for forged in self.forgeries(&letter) {
                    self.hand_over(forged, doors).await?;
                }
                self.hand_over(letter, doors).await
            }
        }
    }

    /// Returns the forged webhooks that are delivered before this one.
    fn forgeries(&self, letter: &sandbox::Notice) -> Vec<sandbox::Notice> {
        if letter.url.starts_with(GATEWAY_URL) {
            gateway::forgeries(letter, &self.bag().gateway.seen)
        } else {
            forgeries(letter)
        }
    }

    /// Returns every posted event that was acknowledged as stored.
    pub(crate) fn answered(&self) -> Vec<Answered> {
        self.bag().answered.clone()
    }

    /// Hands a webhook over. Returns the status for the sender.
    async fn hand_over(&self, letter: sandbox::Notice, doors: &Doors) -> Option<u16> {
        let Handed { status, stored } = doors.hand_over(letter).await?;
        self.bag().answered.extend(stored);
        Some(status)
    }

    fn keep(&self, letter: sandbox::Notice, later: Duration) {
        let now = Instant::now();
        self.bag().late.push((now.checked_add(later).unwrap_or(now), letter));
    }

    /// Delivers every late webhook that is due. An event that is not accepted is left to the list
    /// of events.
    pub(crate) async fn bring_late(&self, doors: &Doors) {
        let now = Instant::now();
        let due: Vec<_> = self.bag().late.extract_if(.., |(due, _)| *due <= now).collect();
        for (_, letter) in due {
            let taken = self.hand_over(letter.clone(), doors).await == Some(200);
            if !taken && !letter.url.starts_with(GATEWAY_URL) {
                self.keep(letter, AGAIN);
            }
        }
    }

    /// Lets underwriting look at submitted applications, where it decides twice.
    pub(crate) async fn decide(&self, desk: &Desk) {
        let Some(thoughts) = self.bag().thoughts else { return };
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
    pub(crate) async fn quiet(&self, desk: &Desk) {
        while !self.bag().late.is_empty() || self.thinks(desk).await {
            sleep(Duration::from_secs(30)).await;
        }
    }

    async fn thinks(&self, desk: &Desk) -> bool {
        let Some(thoughts) = self.bag().thoughts else { return false };
        let open = |state: &str| {
            state == "submitted" || state == "declined" && thoughts.approves_after_s.is_some()
        };
        desk.applications().await.iter().any(|one| open(text(one, "state")))
    }
}

impl Bag {
    /// Returns the route of a webhook.
    fn way(&mut self, letter: &sandbox::Notice) -> &mut Way {
        let own = letter.url.starts_with(GATEWAY_URL);
        if own { &mut self.gateway } else { &mut self.partner }
    }
}

/// Returns the reference and the event of a webhook.
fn told(letter: &sandbox::Notice) -> String {
    let said: Value = serde_json::from_slice(&letter.body).unwrap_or_default();
    let event = said.pointer("/events/0/type").and_then(Value::as_str).unwrap_or_default();
    format!("{} {event}", letter.url.strip_prefix(EVENT_URL).unwrap_or_default())
}

/// Returns webhooks that the service never sent: one with an unknown reference, ones whose path and
/// content differ, and one of an event without meaning.
fn forgeries(letter: &sandbox::Notice) -> Vec<sandbox::Notice> {
    let approval = |reference: &str| {
        let data = json!({"auth_code": FORGED, "reference": reference});
        json!({"type": "merchant.provisioned", "data": data})
    };
    let of = |url: String, event: Value| sandbox::Notice {
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
