//! The way of the service's notifications to us, on which they are doubled, lost, late, overtaken and forged.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};

use super::{Net, Thoughts};
use crate::engine::{Event, Notice};
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
    strays: Vec<Stray>,
    thoughts: Option<Thoughts>,
    /// Every content so far, in the order of its first try.
    seen: Vec<sandbox::Notice>,
    /// What is on its way, and until when.
    late: Vec<(Instant, sandbox::Notice)>,
    swallowed: BTreeSet<String>,
}

impl Post {
    /// The post of a run.
    pub(crate) fn new(net: &Net) -> Self {
        let bag = Bag { strays: net.strays.clone(), thoughts: net.thoughts, ..Bag::default() };
        Self(Arc::new(Mutex::new(bag)))
    }

    fn bag(&self) -> MutexGuard<'_, Bag> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing more goes astray; what is late still comes when its time is.
    pub(crate) fn calm(&self) {
        let mut bag = self.bag();
        bag.strays.clear();
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
    pub(crate) async fn bring(
        &self,
        letter: sandbox::Notice,
        engine: &mpsc::Sender<Event>,
    ) -> Option<u16> {
        let stray = self.stray(&letter);
        let later = stray.map_or(Duration::ZERO, |stray| Duration::from_secs(stray.seconds));
        match stray.map(|stray| stray.detour) {
            None => hand_over(letter, engine).await,
            Some(Detour::Missed) => None,
            Some(Detour::Doubled) => {
                hand_over(letter.clone(), engine).await?;
                hand_over(letter, engine).await
            }
            Some(Detour::Echoed) => {
                self.keep(letter.clone(), later);
                hand_over(letter, engine).await
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
                for forged in forgeries(&letter) {
                    hand_over(forged, engine).await?;
                }
                hand_over(letter, engine).await
            }
        }
    }

    /// What happens to a letter: once, whatever its sender tries.
    fn stray(&self, letter: &sandbox::Notice) -> Option<Stray> {
        let mut bag = self.bag();
        let known = bag.seen.iter().position(|one| one == letter);
        let place = known.unwrap_or(bag.seen.len());
        if known.is_none() {
            bag.seen.push(letter.clone());
        }
        let nth = u64::try_from(place).unwrap_or(u64::MAX).saturating_add(1);
        let at = bag.strays.iter().position(|stray| stray.nth == nth)?;
        Some(bag.strays.remove(at))
    }

    fn keep(&self, letter: sandbox::Notice, later: Duration) {
        let now = Instant::now();
        self.bag().late.push((now.checked_add(later).unwrap_or(now), letter));
    }

    /// Brings what is due by now of all that is late.
    pub(crate) async fn bring_late(&self, engine: &mpsc::Sender<Event>) {
        let now = Instant::now();
        let due: Vec<_> = self.bag().late.extract_if(.., |(due, _)| *due <= now).collect();
        for (_, letter) in due {
            if hand_over(letter.clone(), engine).await != Some(200) {
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

/// Hands a letter over; answers what its sender hears.
async fn hand_over(letter: sandbox::Notice, engine: &mpsc::Sender<Event>) -> Option<u16> {
    let reference = letter.url.strip_prefix(EVENT_URL)?.to_owned();
    let notice = Notice { reference, body: letter.body };
    let (stored, answer) = oneshot::channel();
    engine.send(Event::Notice(notice, stored)).await.ok()?;
    answer.await.is_ok().then_some(200)
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
