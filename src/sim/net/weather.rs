//! The weather of a run: which storm blows, whom it meets, and whether those who were asked to wait did.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::response::Response;
use http::header;
use http::request::Parts;
use tokio::time::Instant;

use super::storm::{Gust, Storm, Whose, answer};
use crate::sim::faults::Fault;

/// The engine asks every ten minutes whether credentials that were refused are taken again.
const ASKED_AGAIN: Duration = Duration::from_mins(11);

/// A storm that was, as the checkers see it.
#[derive(Debug, Clone)]
pub struct Passed {
    /// The storm.
    pub storm: Storm,
    /// How many calls it met.
    pub met: u64,
    /// In how many lives of the machine.
    pub lives: u64,
    /// With how many credentials.
    pub callers: u64,
    /// The most calls of one credential that came although they had been asked to wait, within one such wait.
    pub early: u64,
}

/// All storms of a run; clones share them.
#[derive(Debug, Clone, Default)]
pub struct Weather(Arc<Mutex<Sky>>);

#[derive(Debug, Default)]
struct Sky {
    calm: bool,
    storms: Vec<Storm>,
    calls: BTreeMap<&'static str, u32>,
    blowing: Vec<Blowing>,
    /// When everything was quiet, and when all was settled after that.
    quiet: Option<Instant>,
    settled: Option<Instant>,
}

/// A storm that began.
#[derive(Debug)]
struct Blowing {
    storm: Storm,
    until: Instant,
    caller: String,
    met: u64,
    lives: BTreeSet<u32>,
    callers: BTreeMap<String, Waits>,
    /// The second that is counted, and the calls in it.
    second: (Instant, u32),
    early: u64,
}

/// When a credential was asked to wait, until when, and how often it came all the same.
#[derive(Debug, Clone, Copy)]
struct Waits {
    life: u32,
    since: Instant,
    until: Instant,
    came: u64,
}

impl Weather {
    /// The weather of a run.
    pub(crate) fn new(storms: &[Storm]) -> Self {
        let sky = Sky { storms: storms.to_vec(), ..Sky::default() };
        Self(Arc::new(Mutex::new(sky)))
    }

    fn sky(&self) -> MutexGuard<'_, Sky> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// No storm begins any more; those that blow go on to their end.
    pub(crate) fn calm(&self) {
        let mut sky = self.sky();
        let ends = sky.blowing.iter().map(|one| one.until).max();
        let now = Instant::now();
        (sky.calm, sky.quiet) = (true, Some(ends.map_or(now, |end| end.max(now))));
    }

    /// How long until the last storm is over, and until credentials that were refused are asked about again.
    pub(crate) fn lasts(&self) -> Duration {
        let sky = self.sky();
        let refused = sky.blowing.iter().any(|one| one.storm.gust == Gust::Refused);
        let asked = if refused { ASKED_AGAIN } else { Duration::ZERO };
        let end = sky.quiet.map(|quiet| quiet.saturating_duration_since(Instant::now()));
        end.unwrap_or(Duration::ZERO).saturating_add(asked)
    }

    /// Everything is settled.
    pub(crate) fn settled(&self) {
        self.sky().settled = Some(Instant::now());
    }

    /// How long it took until everything was settled, once all was quiet.
    pub(crate) fn took(&self) -> Option<Duration> {
        let sky = self.sky();
        Some(sky.settled?.saturating_duration_since(sky.quiet?))
    }

    /// Every storm that began.
    pub(crate) fn passed(&self) -> Vec<Passed> {
        let count = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
        let passed = |one: &Blowing| Passed {
            storm: one.storm,
            met: one.met,
            lives: count(one.lives.len()),
            callers: count(one.callers.len()),
            early: one.early,
        };
        self.sky().blowing.iter().map(passed).collect()
    }

    /// What a call hears that arrives in a storm, and how that counts among the faults.
    pub(crate) fn meets(
        &self,
        effect: Option<&'static str>,
        parts: &Parts,
        life: u32,
    ) -> Option<(Response, Fault)> {
        let caller = parts.headers.get(header::AUTHORIZATION);
        let caller = caller.and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        let now = Instant::now();
        let mut sky = self.sky();
        let begins = effect.and_then(|effect| sky.begins(effect)).map(|storm| {
            let seconds = Duration::from_secs(storm.seconds);
            Blowing {
                storm,
                until: now.checked_add(seconds).unwrap_or(now),
                caller: caller.clone(),
                met: 0,
                lives: BTreeSet::new(),
                callers: BTreeMap::new(),
                second: (now, 0),
                early: 0,
            }
        });
        let spares = begins.as_ref().is_some_and(|one| !one.storm.with_it);
        sky.blowing.extend(begins);
        if spares {
            return None;
        }
        let gusts = sky.blowing.iter_mut().filter(|one| one.until > now);
        let gust = gusts.filter_map(|one| one.meets(&caller, life, now)).last()?;
        Some((answer(gust), gust.fault()))
    }
}

impl Sky {
    /// Counts a call; the storm that begins with it.
    fn begins(&mut self, effect: &'static str) -> Option<Storm> {
        let calls = self.calls.entry(effect).or_default();
        *calls = calls.saturating_add(1);
        let nth = *calls;
        let at = self.storms.iter().position(|one| one.effect == effect && one.nth == nth)?;
        let storm = self.storms.remove(at);
        (!self.calm).then_some(storm)
    }
}

impl Blowing {
    /// What a call hears of this storm.
    fn meets(&mut self, caller: &str, life: u32, now: Instant) -> Option<Gust> {
        let met = match self.storm.whose {
            Whose::All => true,
            Whose::Caller => caller == self.caller,
            Whose::Beyond(most) => {
                if now.saturating_duration_since(self.second.0) >= Duration::from_secs(1) {
                    self.second = (now, 0);
                }
                self.second.1 = self.second.1.saturating_add(1);
                self.second.1 > most
            }
        };
        if !met {
            return None;
        }
        self.met = self.met.saturating_add(1);
        self.lives.insert(life);
        self.waits(caller, life, now);
        Some(self.storm.gust)
    }

    /// Notes that a credential is asked to wait, and whether it did as it was asked before.
    fn waits(&mut self, caller: &str, life: u32, now: Instant) {
        let asked = match self.storm.gust {
            Gust::Throttled(asked) => asked.unwrap_or(0),
            Gust::Error | Gust::Reset | Gust::Refused => 0,
        };
        let until = now.checked_add(Duration::from_secs(asked)).unwrap_or(now);
        let fresh = Waits { life, since: now, until, came: 0 };
        let waits = self.callers.entry(caller.to_owned()).or_insert(fresh);
        if waits.life != life || now >= waits.until {
            *waits = fresh;
        } else if now > waits.since {
            waits.came = waits.came.saturating_add(1);
            self.early = self.early.max(waits.came);
        }
    }
}
