//! The way of the service's notifications to us, on which they are doubled, lost, late, overtaken and forged.

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

/// A code that nobody ever issued.
pub const FORGED: &str = "forged-code";
/// A letter that nobody took is tried again after this long.
const AGAIN: Duration = Duration::from_mins(10);

/// What happens to one notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detour {
    /// It comes twice.
    Doubled,
    /// It comes, and once more long after.
    Echoed,
    /// Its first try does not arrive.
    Missed,
    /// It is taken by somebody else, and never comes.
    Swallowed,
    /// It comes late, so that newer ones may be first.
    Late,
    /// Others come before it that the service never sent.
    Forged,
}

/// Every detour there is; the one after which nobody ever knows is rare.
pub const DETOURS: &[Detour] = &[
    Detour::Doubled,
    Detour::Echoed,
    Detour::Missed,
    Detour::Late,
    Detour::Late,
    Detour::Forged,
    Detour::Swallowed,
];

/// A notification that goes astray.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stray {
    /// Its number among those of different content, from 1.
    pub nth: u64,
    /// What happens to it.
    pub detour: Detour,
    /// How late it is, where it is late.
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

/// The post; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Post(Arc<Mutex<Bag>>);

#[derive(Debug, Default)]
struct Bag {
    calm: bool,
    thoughts: Option<Thoughts>,
    /// What the service tells the partner.
    partner: Way,
    /// What it tells merchants.
    gateway: Way,
    /// What is on its way, and until when.
    late: Vec<(Instant, sandbox::Notice)>,
    swallowed: BTreeSet<String>,
    answered: Vec<Answered>,
}

/// Letters of one sort.
#[derive(Debug, Default)]
struct Way {
    strays: Vec<Stray>,
    /// Every content so far, in the order of its first try.
    seen: Vec<sandbox::Notice>,
}

impl Way {
    /// What happens to a letter: once, whatever its sender tries.
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
    /// The post of a run.
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

    /// Nothing more goes astray; what is late still comes when its time is.
    pub(crate) fn calm(&self) {
        let mut bag = self.bag();
        bag.partner.strays.clear();
        bag.gateway.strays.clear();
        bag.calm = true;
    }

    /// How long the postman rests: for long, where there is only something late to wait for.
    pub(crate) fn rest(&self) -> Duration {
        let bag = self.bag();
        let long = bag.calm && !bag.late.is_empty();
        Duration::from_secs(if long { 20 } else { 1 })
    }

    /// What was told in letters that never came: reference and event.
    pub(crate) fn swallowed(&self) -> BTreeSet<String> {
        self.bag().swallowed.clone()
    }

    /// Brings one notification; answers the status that its sender hears.
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

    /// What comes before a letter that the service never sent.
    fn forgeries(&self, letter: &sandbox::Notice) -> Vec<sandbox::Notice> {
        if letter.url.starts_with(GATEWAY_URL) {
            gateway::forgeries(letter, &self.bag().gateway.seen)
        } else {
            forgeries(letter)
        }
    }

    /// Every post of an event that was answered as stored.
    pub(crate) fn answered(&self) -> Vec<Answered> {
        self.bag().answered.clone()
    }

    /// Hands a letter over; answers what its sender hears.
    async fn hand_over(&self, letter: sandbox::Notice, doors: &Doors) -> Option<u16> {
        let Handed { status, stored } = doors.hand_over(letter).await?;
        self.bag().answered.extend(stored);
        Some(status)
    }

    fn keep(&self, letter: sandbox::Notice, later: Duration) {
        let now = Instant::now();
        self.bag().late.push((now.checked_add(later).unwrap_or(now), letter));
    }

    /// Brings what is due by now of all that is late. An event that nobody takes is left to the list of events.
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

    /// Underwriting looks at what was submitted, where it thinks twice.
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

    /// Waits until nothing is late any more, and underwriting has nothing left to think about.
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
    /// The way of a letter.
    fn way(&mut self, letter: &sandbox::Notice) -> &mut Way {
        let own = letter.url.starts_with(GATEWAY_URL);
        if own { &mut self.gateway } else { &mut self.partner }
    }
}

/// What a letter says of whom.
fn told(letter: &sandbox::Notice) -> String {
    let said: Value = serde_json::from_slice(&letter.body).unwrap_or_default();
    let event = said.pointer("/events/0/type").and_then(Value::as_str).unwrap_or_default();
    format!("{} {event}", letter.url.strip_prefix(EVENT_URL).unwrap_or_default())
}

/// Letters that the service never sent: of a reference that nobody has, of one that its path does not name, and
/// of an event that means nothing.
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
