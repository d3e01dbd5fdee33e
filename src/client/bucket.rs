//! The rate limit of one merchant's calls: a token bucket that learns from 429.
//!
//! A pure state machine; the time is passed in. The service's limit is unknown before its first
//! 429, so a bucket begins without one and only counts. From the first 429 on it grants half of the
//! rate of the second before, and half again at each further 429. Every second without a 429 adds a
//! little, until the limit disappears.

use std::time::Duration;

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

    /// Returns the wait that the service currently imposes on every call.
    pub(crate) fn pause_remaining(&self, now: Instant) -> Option<Duration> {
        let wait = self.paused_until?.saturating_duration_since(now);
        (!wait.is_zero()).then_some(wait)
    }

    pub(crate) fn is_slowed(&self, now: Instant) -> bool {
        self.limit.is_some() || self.pause_remaining(now).is_some()
    }

    /// Records a 429 to a call that began at `began`.
    pub(crate) fn record_throttle(
        &mut self,
        began: Instant,
        asked: Option<Duration>,
        now: Instant,
    ) {
        self.pause(asked.unwrap_or(Duration::ZERO), now);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes all tokens available at one moment, up to `most`; returns their count.
    fn drain(bucket: &mut Bucket, now: Instant, most: u64) -> u64 {
        (0..most).take_while(|_| bucket.take(now).is_ok()).count().try_into().unwrap()
    }

    /// Takes all tokens available within this many milliseconds from `from` on.
    fn over(bucket: &mut Bucket, from: Instant, millis: u64) -> u64 {
        let at = |ms| from.checked_add(Duration::from_millis(ms)).unwrap();
        (0..millis).map(|ms| drain(bucket, at(ms), 10_000)).sum()
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_429_there_is_no_limit() {
        let (mut bucket, now) = (Bucket::new(Instant::now()), Instant::now());
        assert_eq!(drain(&mut bucket, now, 100_000), 100_000);
        assert!(!bucket.is_slowed(now));
    }

    #[tokio::test(start_paused = true)]
    async fn a_429_halves_what_was_given_before() {
        let (mut bucket, now) = (Bucket::new(Instant::now()), Instant::now());
        drain(&mut bucket, now, 100);
        bucket.record_throttle(now, None, now);
        let given = over(&mut bucket, now, 1_000);
        assert!((45..=51).contains(&given), "{given}");
        let later = now + Duration::from_secs(1);
        bucket.record_throttle(later, None, later);
        let given = over(&mut bucket, later, 1_000);
        assert!((20..=26).contains(&given), "{given}");
    }

    #[tokio::test(start_paused = true)]
    async fn calls_that_were_under_way_together_halve_once() {
        let (mut bucket, now) = (Bucket::new(Instant::now()), Instant::now());
        drain(&mut bucket, now, 64);
        let answered = now + Duration::from_millis(50);
        for _ in 0..16 {
            bucket.record_throttle(now, None, answered);
        }
        let given = over(&mut bucket, answered, 1_000);
        assert!((28..=33).contains(&given), "{given}");
    }

    #[tokio::test(start_paused = true)]
    async fn the_rate_has_a_floor_and_grows_until_there_is_no_limit() {
        let (mut bucket, now) = (Bucket::new(Instant::now()), Instant::now());
        for _ in 0..40 {
            bucket.record_throttle(now, None, now);
        }
        assert_eq!(over(&mut bucket, now, 1_900), 1, "one call in two seconds, then one more");
        let later = now + Duration::from_secs(20);
        let given = over(&mut bucket, later, 1_000);
        assert!((20..=26).contains(&given), "{given}");
        assert!(bucket.is_slowed(later));
        let end = now + Duration::from_secs(401);
        assert_eq!(drain(&mut bucket, end, 100_000), 100_000);
        assert!(!bucket.is_slowed(end));
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_that_the_service_asks_for_stops_every_call() {
        let (mut bucket, now) = (Bucket::new(Instant::now()), Instant::now());
        drain(&mut bucket, now, 1_000);
        bucket.record_throttle(now, Some(Duration::from_secs(30)), now);
        bucket.record_throttle(now, Some(Duration::from_secs(2)), now);
        assert_eq!(bucket.take(now), Err(Duration::from_secs(30)), "the longer wait counts");
        assert_eq!(over(&mut bucket, now, 30_000), 0);
        assert!(drain(&mut bucket, now + Duration::from_secs(30), 1_000) >= 1);
        let far = now + Duration::from_secs(31);
        bucket.pause(Duration::MAX, far);
        assert_eq!(
            bucket.pause_remaining(far),
            Some(PAUSE_MAX),
            "a mistake does not stop us for ever"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn the_wait_that_is_told_is_enough() {
        let (mut bucket, now) = (Bucket::new(Instant::now()), Instant::now());
        drain(&mut bucket, now, 7);
        bucket.record_throttle(now, None, now);
        let mut at = now;
        for _ in 0..20 {
            let Err(wait) = bucket.take(at) else { continue };
            at += wait;
            assert_eq!(bucket.take(at), Ok(()), "after {wait:?}");
        }
    }
}
