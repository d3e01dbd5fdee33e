//! Weather of a run: the active storms, the calls that they meet, and calls that come before a
//! requested wait has ended.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use http::request::Parts;
use http::{HeaderValue, StatusCode, header};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::api::call::LostReplyMarker;
use crate::sim::plan::chance::CallFault;
use crate::sim::plan::parts::add;
use crate::sim::plan::trouble::{Storm, StormAnswer, StormScope};

fn storm_response(answer: StormAnswer) -> Response {
    let mut response = Response::new(Body::empty());
    match answer {
        StormAnswer::Throttled(asked) => {
            *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
            let asked = asked.map(|seconds| (header::RETRY_AFTER, HeaderValue::from(seconds)));
            response.headers_mut().extend(asked);
        }
        StormAnswer::Error => *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE,
        StormAnswer::Refused => *response.status_mut() = StatusCode::UNAUTHORIZED,
        StormAnswer::Reset => drop(response.extensions_mut().insert(LostReplyMarker)),
    }
    response
}

/// The engine retries refused credentials every ten minutes.
const ASKED_AGAIN: Duration = Duration::from_mins(11);

/// A stretch of a storm, as the checkers see it: from the storm's start, or the end of its last
/// stretch, until another storm answers in its place or the storm ends.
#[derive(Debug, Clone)]
pub struct StormStretch {
    pub storm: Storm,
    pub seconds: u64,
    /// Calls that the storm answered.
    pub met: u64,
    /// Number of the machine's lives with such a call.
    pub lives: u64,
    /// Number of credentials of these calls.
    pub callers: u64,
    /// Most calls of one credential that came too early, within one requested wait.
    pub early: u64,
}

/// All storms of a run; clones share them.
#[derive(Debug, Clone, Default)]
pub struct Weather(Arc<Mutex<WeatherState>>);

#[derive(Debug, Default)]
struct WeatherState {
    calm: bool,
    storms: Vec<Storm>,
    calls: BTreeMap<&'static str, u32>,
    active: Vec<ActiveStorm>,
    finished: Vec<StormStretch>,
    /// `quiet` is the end of all faults; `settled` is the time when everything had settled after
    /// it.
    quiet: Option<Instant>,
    settled: Option<Instant>,
}

#[derive(Debug)]
struct ActiveStorm {
    storm: Storm,
    until: Instant,
    caller: String,
    /// Start of the storm, or of its current stretch.
    since: Instant,
    met: u64,
    lives: BTreeSet<u32>,
    callers: BTreeSet<String>,
    waits: BTreeMap<String, RequestedWait>,
    /// Start of the counted second, and the calls in it.
    second: (Instant, u32),
    early: u64,
}

/// A wait that was requested of a credential, and the calls that came all the same.
#[derive(Debug, Clone, Copy)]
struct RequestedWait {
    life: u32,
    since: Instant,
    until: Instant,
    early_calls: u64,
}

impl Weather {
    pub(crate) fn new(storms: &[Storm]) -> Self {
        let sky = WeatherState { storms: storms.to_vec(), ..WeatherState::default() };
        Self(Arc::new(Mutex::new(sky)))
    }

    /// Starts no more storms; active ones last to their end.
    pub(crate) fn stop_storms(&self) {
        let mut sky = self.0.lock();
        let ends = sky.active.iter().map(|one| one.until).max();
        let now = Instant::now();
        (sky.calm, sky.quiet) = (true, Some(ends.map_or(now, |end| end.max(now))));
    }

    /// Returns the time until the last storm is over and refused credentials are retried.
    pub(crate) fn time_until_over(&self) -> Duration {
        let sky = self.0.lock();
        let refused = sky.active.iter().any(|one| one.storm.answer == StormAnswer::Refused);
        let asked = if refused { ASKED_AGAIN } else { Duration::ZERO };
        let end = sky.quiet.map(|quiet| quiet.saturating_duration_since(Instant::now()));
        end.unwrap_or(Duration::ZERO).saturating_add(asked)
    }

    pub(crate) fn note_settled(&self) {
        self.0.lock().settled = Some(Instant::now());
    }

    pub(crate) fn settling_time(&self) -> Option<Duration> {
        let sky = self.0.lock();
        Some(sky.settled?.saturating_duration_since(sky.quiet?))
    }

    pub(crate) fn stretches(&self) -> Vec<StormStretch> {
        let sky = self.0.lock();
        let last = sky.active.iter().map(|one| one.stretch(one.until));
        sky.finished.iter().cloned().chain(last).collect()
    }

    /// Returns the answer to a call in a storm, and the fault as which it counts.
    pub(crate) fn answer_call(
        &self,
        effect: Option<&'static str>,
        parts: &Parts,
        life: u32,
    ) -> Option<(Response, CallFault)> {
        let caller = parts.headers.get(header::AUTHORIZATION);
        let caller = caller.and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        let now = Instant::now();
        let mut sky = self.0.lock();
        let begins = effect.and_then(|effect| sky.begin_storm(effect)).map(|storm| {
            let seconds = Duration::from_secs(storm.seconds);
            ActiveStorm {
                storm,
                until: now.checked_add(seconds).unwrap_or(now),
                caller: caller.clone(),
                since: now,
                met: 0,
                lives: BTreeSet::new(),
                callers: BTreeSet::new(),
                waits: BTreeMap::new(),
                second: (now, 0),
                early: 0,
            }
        });
        let spares = begins.as_ref().is_some_and(|one| !one.storm.with_it);
        sky.active.extend(begins);
        if spares {
            return None;
        }
        let gust = sky.choose_answer(&caller, life, now)?;
        Some((storm_response(gust), gust.fault()))
    }
}

impl WeatherState {
    /// Counts a call, and returns the storm that begins with it.
    fn begin_storm(&mut self, effect: &'static str) -> Option<Storm> {
        let nth = add(&mut self.calls, effect, 1);
        let at = self.storms.iter().position(|one| one.effect == effect && one.nth == nth)?;
        let storm = self.storms.remove(at);
        (!self.calm).then_some(storm)
    }

    /// Returns the answer to a call. Of several storms that meet it, the one that began last
    /// answers.
    fn choose_answer(&mut self, caller: &str, life: u32, now: Instant) -> Option<StormAnswer> {
        let blowing = self.active.iter_mut().enumerate().filter(|(_, one)| one.until > now);
        let met = blowing.filter_map(|(at, one)| one.meets_call(caller, life, now).then_some(at));
        let last = met.last()?;
        let gust = self.active.get(last)?.storm.answer;
        for (at, one) in self.active.iter_mut().enumerate() {
            if at == last {
                one.record_answer(caller, life, now);
            } else if one.is_ended_by(gust) {
                self.finished.extend(one.end_stretch(now));
            }
        }
        Some(gust)
    }
}

impl ActiveStorm {
    /// Returns true if this storm meets a call. A call before the end of a requested wait is early,
    /// whichever storm answers it now.
    fn meets_call(&mut self, caller: &str, life: u32, now: Instant) -> bool {
        let met = match self.storm.scope {
            StormScope::All => true,
            StormScope::Caller => caller == self.caller,
            StormScope::Beyond(most) => {
                if now.saturating_duration_since(self.second.0) >= Duration::from_secs(1) {
                    self.second = (now, 0);
                }
                self.second.1 = self.second.1.saturating_add(1);
                self.second.1 > most
            }
        };
        // Calls of the same moment were already on their way.
        let is_early =
            |one: &&mut RequestedWait| one.life == life && one.since < now && now < one.until;
        if met && let Some(waits) = self.waits.get_mut(caller).filter(is_early) {
            waits.early_calls = waits.early_calls.saturating_add(1);
            self.early = self.early.max(waits.early_calls);
        }
        met
    }

    /// Notes that this storm answers a call, and the wait that it requests.
    fn record_answer(&mut self, caller: &str, life: u32, now: Instant) {
        self.met = self.met.saturating_add(1);
        self.lives.insert(life);
        self.callers.insert(caller.to_owned());
        let StormAnswer::Throttled(Some(asked)) = self.storm.answer else { return };
        let until = now.checked_add(Duration::from_secs(asked)).unwrap_or(now);
        let fresh = RequestedWait { life, since: now, until, early_calls: 0 };
        let waits = self.waits.entry(caller.to_owned()).or_insert(fresh);
        if waits.life != life || now >= waits.until {
            *waits = fresh;
        }
    }

    /// Returns true if another answer resets the engine's state about this storm. After 429 or 401
    /// a host counts as working, and a limit grows with every answer but 429. Refused credentials
    /// stay refused.
    fn is_ended_by(&self, answer: StormAnswer) -> bool {
        match self.storm.answer {
            StormAnswer::Refused => false,
            StormAnswer::Throttled(_) => !matches!(answer, StormAnswer::Throttled(_)),
            StormAnswer::Error | StormAnswer::Reset => {
                matches!(answer, StormAnswer::Throttled(_) | StormAnswer::Refused)
            }
        }
    }

    /// Ends a stretch unless the whole storm is over, and begins the next one.
    fn end_stretch(&mut self, now: Instant) -> Option<StormStretch> {
        if now >= self.until {
            return None;
        }
        let passed = self.stretch(now);
        (self.since, self.met) = (now, 0);
        self.lives.clear();
        self.callers.clear();
        (passed.met > 0).then_some(passed)
    }

    fn stretch(&self, now: Instant) -> StormStretch {
        let count = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
        StormStretch {
            storm: self.storm,
            seconds: now.saturating_duration_since(self.since).as_secs(),
            met: self.met,
            lives: count(self.lives.len()),
            callers: count(self.callers.len()),
            early: self.early,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::plan::chance::READ;

    /// Returns a storm for all calls that begins with the `nth` reading.
    fn storm(nth: u32, seconds: u64, gust: StormAnswer) -> Storm {
        Storm { effect: READ, nth, with_it: true, seconds, scope: StormScope::All, answer: gust }
    }

    #[tokio::test(start_paused = true)]
    async fn of_two_storms_the_later_one_answers_and_the_stretches_of_the_other_are_told_apart() {
        let asked = StormAnswer::Throttled(Some(30));
        let weather = Weather::new(&[storm(1, 100, StormAnswer::Error), storm(3, 50, asked)]);
        let (parts, ()) = http::Request::new(()).into_parts();
        let mut heard = Vec::new();
        for _ in 0..9 {
            heard.push(weather.answer_call(Some(READ), &parts, 1).map(|(_, fault)| fault));
            tokio::time::sleep(Duration::from_secs(10)).await;
        }
        let fault = |gust: StormAnswer, times: usize| vec![Some(gust.fault()); times];
        assert_eq!(
            heard,
            [fault(StormAnswer::Error, 2), fault(asked, 5), fault(StormAnswer::Error, 2)].concat()
        );
        let passed = weather.stretches();
        let told: Vec<_> = passed.iter().map(|one| (one.met, one.seconds, one.early)).collect();
        assert_eq!(told, [(2, 20, 0), (2, 40, 0), (5, 50, 2)]);
    }
}
