//! The two limits of calls: the rate of one merchant's calls, and the circuit breaker of one host.
//! Pure state machines; the time and the randomness are passed in.
//!
//! The rate limit is a token bucket that learns from 429. The service's limit is unknown before its
//! first 429, so a bucket begins without one and only counts. From the first 429 on it grants half of
//! the rate of the second before, and half again at each further 429. Every second without a 429 adds
//! a little, until the limit disappears.
//!
//! The breaker stops calls to a host that does not serve. Each host has one, and no merchant has.
//! Connections, proxies and server errors are the host's, so ten failures of any merchants prove as
//! much as ten thousand. Failures of a single merchant, such as a processor that is down, do not count
//! ([`crate::model::error_class::FailureSignal::is_host_down`]). After [`FAILURES_MAX`] failures in a
//! row the breaker is open: no call goes out. After its wait it is half open: the first caller sends
//! one request that changes nothing. Any answer of a serving host closes the breaker; a failure opens
//! it for longer. No effect is ever the probe, since an unanswered effect is in doubt.

use std::time::Duration;

use rand_core::Rng;
use tokio::time::Instant;

/// Tokens are counted in thousandths of a call.
const CALL: u64 = 1_000;
/// The slowest rate, in thousandths of a call a second: one call in two seconds.
const RATE_MIN: u64 = CALL / 2;
/// The rate at which the limit disappears, in thousandths of a call a second.
const RATE_MAX: u64 = 400 * CALL;
/// The rate gained by each second without a 429.
const RATE_STEP: u64 = CALL;
/// The burst after a pause: a fifth of a second's calls, one at least.
const BURST_PART: u64 = 5;

/// Waits that the service requests are honoured up to this long. A longer one is more likely a
/// mistake, and one call an hour does no harm.
const PAUSE_MAX: Duration = Duration::from_hours(1);
const SECOND: Duration = Duration::from_secs(1);

/// The calls of one merchant.
#[derive(Debug)]
pub(crate) struct Bucket {
    limit: Option<RateLimit>,
    /// No call goes out before this time, by the service's request.
    paused_until: Option<Instant>,
    counts: CallCounts,
}

#[derive(Debug, Clone, Copy)]
struct RateLimit {
    /// Thousandths of a call a second.
    rate: u64,
    tokens: u64,
    /// The time when tokens were last added.
    filled: Instant,
    /// The time when the rate was last halved or raised.
    changed: Instant,
    /// The time when the rate was last halved. A 429 of an older call proves nothing new.
    halved: Instant,
}

/// Counts of calls in this second and in the one before.
#[derive(Debug)]
struct CallCounts {
    since: Instant,
    now: u64,
    before: u64,
}

impl Bucket {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            limit: None,
            paused_until: None,
            counts: CallCounts { since: now, now: 0, before: 0 },
        }
    }

    /// Takes a token, or returns the wait before one may be available.
    pub(crate) fn take(&mut self, now: Instant) -> Result<(), Duration> {
        if let Some(wait) = self.pause_remaining(now) {
            return Err(wait);
        }
        self.paused_until = None;
        self.raise_rate(now);
        if let Some(limit) = &mut self.limit {
            limit.fill(now);
            limit.take()?;
        }
        self.counts.count(now);
        Ok(())
    }

    fn pause_remaining(&self, now: Instant) -> Option<Duration> {
        let wait = self.paused_until?.saturating_duration_since(now);
        (!wait.is_zero()).then_some(wait)
    }

    pub(crate) fn is_slowed(&self, now: Instant) -> bool {
        self.limit.is_some() || self.pause_remaining(now).is_some()
    }

    /// Records a 429 to a call that began at `began`.
    pub(crate) fn record_throttle(&mut self, began: Instant, asked: Duration, now: Instant) {
        self.pause(asked, now);
        let old = self.limit;
        if old.is_some_and(|limit| began < limit.halved) {
            return;
        }
        let before = old.map_or_else(|| self.counts.rate(now), |limit| limit.rate);
        let rate = before.checked_div(2).unwrap_or(0).clamp(RATE_MIN, RATE_MAX);
        self.limit = Some(RateLimit { rate, tokens: 0, filled: now, changed: now, halved: now });
    }

    /// Stops calls for a time that the service requested, by 429 or by another answer.
    pub(crate) fn pause(&mut self, asked: Duration, now: Instant) {
        let until = now.checked_add(asked.min(PAUSE_MAX)).unwrap_or(now);
        self.paused_until = Some(self.paused_until.map_or(until, |old| old.max(until)));
    }

    /// Raises the rate for every whole second since its last change.
    fn raise_rate(&mut self, now: Instant) {
        let Some(limit) = &mut self.limit else { return };
        let seconds = now.saturating_duration_since(limit.changed).as_secs();
        if seconds == 0 {
            return;
        }
        limit.fill(now);
        limit.rate = limit.rate.saturating_add(RATE_STEP.saturating_mul(seconds));
        limit.changed = now;
        if limit.rate >= RATE_MAX {
            self.limit = None;
        }
    }
}

impl RateLimit {
    /// Adds the tokens gained since the last filling.
    fn fill(&mut self, now: Instant) {
        let micros = now.saturating_duration_since(self.filled).as_micros();
        let micros = u64::try_from(micros).unwrap_or(u64::MAX);
        let gained = self.rate.saturating_mul(micros).checked_div(1_000_000).unwrap_or(0);
        if gained > 0 {
            let burst = self.rate.checked_div(BURST_PART).unwrap_or(CALL).max(CALL);
            self.tokens = self.tokens.saturating_add(gained).min(burst);
            self.filled = now;
        }
    }

    fn take(&mut self) -> Result<(), Duration> {
        if let Some(left) = self.tokens.checked_sub(CALL) {
            self.tokens = left;
            return Ok(());
        }
        let missing = CALL.saturating_sub(self.tokens).saturating_mul(1_000_000);
        Err(Duration::from_micros(missing.div_ceil(self.rate.max(1)).max(1)))
    }
}

impl CallCounts {
    fn count(&mut self, now: Instant) {
        self.roll_over(now);
        self.now = self.now.saturating_add(1);
    }

    /// Begins a new second, if one has passed.
    fn roll_over(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.since);
        if passed >= SECOND {
            self.before = if passed < SECOND.saturating_mul(2) { self.now } else { 0 };
            (self.now, self.since) = (0, now);
        }
    }

    /// Returns the recent rate, in thousandths of a call a second.
    fn rate(&mut self, now: Instant) -> u64 {
        self.roll_over(now);
        self.now.max(self.before).saturating_mul(CALL)
    }
}

/// Failures in a row that open the breaker: more than chance gives if a third of all calls fails.
pub(crate) const FAILURES_MAX: u32 = 12;
/// After a good probe one failure opens the breaker again, until a call succeeds.
const FAILURES_AFTER_PROBE: u32 = FAILURES_MAX - 1;
/// The first wait is between half of this and all of it.
const WAIT_FIRST: Duration = Duration::from_secs(2);
const WAIT_MAX: Duration = Duration::from_mins(2);
/// After a shorter outage no caller has waited long.
const AWAY_MIN: Duration = Duration::from_secs(30);
/// The wait doubles at most this many times.
const DOUBLINGS_MAX: u32 = 6;
/// A probe without a result after this time counts as abandoned.
const PROBE_MAX: Duration = Duration::from_mins(2);

/// The breaker of one host.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    /// Failures in a row.
    failures: u32,
    /// Openings since the last success.
    openings: u32,
    /// The time of the first failure since the last success.
    silent_since: Option<Instant>,
    open: Option<OpenPeriod>,
}

#[derive(Debug, Clone, Copy)]
struct OpenPeriod {
    until: Instant,
    /// The start of the running probe.
    probe: Option<Instant>,
}

/// A breaker's answer to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    Free,
    ProbeFirst,
    /// The call may not go out before this wait is over.
    Unavailable(Duration),
}

impl Breaker {
    pub(crate) fn admit(&mut self, now: Instant) -> Admission {
        let Some(open) = &mut self.open else { return Admission::Free };
        let wait = open.until.saturating_duration_since(now);
        if !wait.is_zero() {
            return Admission::Unavailable(wait);
        }
        let abandoned = |began: Instant| now.saturating_duration_since(began) >= PROBE_MAX;
        if open.probe.is_some_and(|began| !abandoned(began)) {
            return Admission::Unavailable(WAIT_FIRST);
        }
        open.probe = Some(now);
        Admission::ProbeFirst
    }

    /// Records that the host served a call, whatever its answer. Returns whether the host had been
    /// away for long, so that deferred callers may retry at once.
    pub(crate) fn record_success(&mut self, now: Instant) -> bool {
        if self.open.is_some() {
            return false;
        }
        let away = self.silent_since.map(|since| now.saturating_duration_since(since));
        let was_away = self.openings > 0 && away.is_some_and(|away| away >= AWAY_MIN);
        *self = Self::default();
        was_away
    }

    /// Records that the host did not serve a call. Returns whether this failure opened the breaker.
    pub(crate) fn record_failure(&mut self, now: Instant, rng: &mut dyn Rng) -> bool {
        self.failures = self.failures.saturating_add(1);
        self.silent_since.get_or_insert(now);
        let opens = self.open.is_none() && self.failures >= FAILURES_MAX;
        if opens {
            self.reopen(now, rng);
        }
        opens
    }

    pub(crate) fn record_probe(&mut self, well: bool, now: Instant, rng: &mut dyn Rng) {
        if well {
            self.open = None;
            self.failures = FAILURES_AFTER_PROBE;
        } else {
            self.reopen(now, rng);
        }
    }

    /// Returns the start of the silence and the time of the next probe, while no call goes out.
    pub(crate) fn silence(&self) -> Option<(Instant, Instant)> {
        let open = self.open?;
        Some((self.silent_since.unwrap_or(open.until), open.until))
    }

    fn reopen(&mut self, now: Instant, rng: &mut dyn Rng) {
        let until = now.checked_add(wait(self.openings, rng)).unwrap_or(now);
        self.openings = self.openings.saturating_add(1);
        self.open = Some(OpenPeriod { until, probe: None });
    }
}

/// Returns a random wait between half of a limit that doubles with each opening, and all of it.
fn wait(openings: u32, rng: &mut dyn Rng) -> Duration {
    let doublings = openings.min(DOUBLINGS_MAX);
    let limit = WAIT_FIRST.saturating_mul(2_u32.saturating_pow(doublings)).min(WAIT_MAX);
    let half = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).div_euclid(2).max(1);
    Duration::from_millis(half.saturating_add(rng.next_u64().checked_rem(half).unwrap_or(0)))
}

#[cfg(test)]
mod tests;
