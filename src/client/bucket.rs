//! How many calls a second one merchant may make: a token bucket that learns from 429.
//!
//! A pure state machine; the time is passed in. Nobody knows the service's limit before it says 429, so a bucket
//! begins without any and only counts. From the first 429 on it gives half of what it gave in the second before, and
//! half again at each further one; every second without a 429 adds a little, until there is no limit any more.

use std::time::Duration;

use tokio::time::Instant;

/// Tokens are counted in thousandths of a call.
const CALL: u64 = 1_000;

/// The slowest rate, in thousandths of a call a second: one call in two seconds.
const RATE_MIN: u64 = CALL / 2;

/// A rate from which on there is no limit any more, in thousandths of a call a second.
const RATE_MAX: u64 = 400 * CALL;

/// What each second without a 429 adds to the rate.
const RATE_STEP: u64 = CALL;

/// So many calls may go out at once after a pause: a fifth of a second's, one at least.
const BURST_PART: u64 = 5;

/// Waits that the service asks for are kept up to this long: what is longer is more likely a mistake, and one call
/// an hour does no harm.
const PAUSE_MAX: Duration = Duration::from_hours(1);

const SECOND: Duration = Duration::from_secs(1);

/// The calls of one merchant.
#[derive(Debug)]
pub(super) struct Bucket {
    limit: Option<Limit>,
    /// No call before then: the service said so.
    paused_until: Option<Instant>,
    seen: Seen,
}

/// A limit that was learnt.
#[derive(Debug, Clone, Copy)]
struct Limit {
    /// Thousandths of a call a second.
    rate: u64,
    tokens: u64,
    /// When tokens were added last.
    filled: Instant,
    /// When the rate was halved or raised last.
    turned: Instant,
    /// Calls from before the rate was halved last say nothing new by their 429.
    halved: Instant,
}

/// How many calls there were in this second and in the one before.
#[derive(Debug)]
struct Seen {
    since: Instant,
    now: u64,
    before: u64,
}

impl Bucket {
    /// A bucket without a limit.
    pub(super) fn new(now: Instant) -> Self {
        Self { limit: None, paused_until: None, seen: Seen { since: now, now: 0, before: 0 } }
    }

    /// Takes a token, or answers how long to wait before one may be there.
    pub(super) fn take(&mut self, now: Instant) -> Result<(), Duration> {
        if let Some(wait) = self.paused(now) {
            return Err(wait);
        }
        self.paused_until = None;
        self.grow(now);
        if let Some(limit) = &mut self.limit {
            limit.fill(now);
            limit.take()?;
        }
        self.seen.count(now);
        Ok(())
    }

    /// How long the service has forbidden every call from now on, if it has.
    pub(super) fn paused(&self, now: Instant) -> Option<Duration> {
        let wait = self.paused_until?.saturating_duration_since(now);
        (!wait.is_zero()).then_some(wait)
    }

    /// Whether calls are made to wait.
    pub(super) fn is_slowed(&self, now: Instant) -> bool {
        self.limit.is_some() || self.paused(now).is_some()
    }

    /// The service asked a call that began at `began` to come again later: 429.
    pub(super) fn throttled(&mut self, began: Instant, asked: Option<Duration>, now: Instant) {
        self.pause(asked.unwrap_or(Duration::ZERO), now);
        let old = self.limit;
        if old.is_some_and(|limit| began < limit.halved) {
            return;
        }
        let before = old.map_or_else(|| self.seen.rate(now), |limit| limit.rate);
        let rate = before.checked_div(2).unwrap_or(0).clamp(RATE_MIN, RATE_MAX);
        self.limit = Some(Limit { rate, tokens: 0, filled: now, turned: now, halved: now });
    }

    /// No call for so long: the service said so, by 429 or by another answer.
    pub(super) fn pause(&mut self, asked: Duration, now: Instant) {
        let until = now.checked_add(asked.min(PAUSE_MAX)).unwrap_or(now);
        self.paused_until = Some(self.paused_until.map_or(until, |old| old.max(until)));
    }

    /// Raises the rate for every whole second since it was turned last.
    fn grow(&mut self, now: Instant) {
        let Some(limit) = &mut self.limit else { return };
        let seconds = now.saturating_duration_since(limit.turned).as_secs();
        if seconds == 0 {
            return;
        }
        limit.fill(now);
        limit.rate = limit.rate.saturating_add(RATE_STEP.saturating_mul(seconds));
        limit.turned = now;
        if limit.rate >= RATE_MAX {
            self.limit = None;
        }
    }
}

impl Limit {
    /// Adds what has come together since it was filled last.
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

impl Seen {
    /// Counts a call.
    fn count(&mut self, now: Instant) {
        self.turn(now);
        self.now = self.now.saturating_add(1);
    }

    /// Begins a new second, if one has passed.
    fn turn(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.since);
        if passed >= SECOND {
            self.before = if passed < SECOND.saturating_mul(2) { self.now } else { 0 };
            (self.now, self.since) = (0, now);
        }
    }

    /// Thousandths of a call a second lately.
    fn rate(&mut self, now: Instant) -> u64 {
        self.turn(now);
        self.now.max(self.before).saturating_mul(CALL)
    }
}

#[cfg(test)]
#[expect(clippy::arithmetic_side_effects, reason = "an overflow fails the test")]
mod tests {
    use super::*;

    /// Takes what there is at one moment, up to `most`; answers how many it were.
    fn drain(bucket: &mut Bucket, now: Instant, most: u64) -> u64 {
        (0..most).take_while(|_| bucket.take(now).is_ok()).count().try_into().unwrap()
    }

    /// Takes everything that can be had in so many milliseconds from `from` on.
    fn over(bucket: &mut Bucket, from: Instant, millis: u64) -> u64 {
        (0..millis).map(|ms| drain(bucket, from + Duration::from_millis(ms), 10_000)).sum()
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
        bucket.throttled(now, None, now);
        let given = over(&mut bucket, now, 1_000);
        assert!((45..=51).contains(&given), "{given}");
        let later = now + Duration::from_secs(1);
        bucket.throttled(later, None, later);
        let given = over(&mut bucket, later, 1_000);
        assert!((20..=26).contains(&given), "{given}");
    }

    #[tokio::test(start_paused = true)]
    async fn calls_that_were_under_way_together_halve_once() {
        let (mut bucket, now) = (Bucket::new(Instant::now()), Instant::now());
        drain(&mut bucket, now, 64);
        let answered = now + Duration::from_millis(50);
        for _ in 0..16 {
            bucket.throttled(now, None, answered);
        }
        let given = over(&mut bucket, answered, 1_000);
        assert!((28..=33).contains(&given), "{given}");
    }

    #[tokio::test(start_paused = true)]
    async fn the_rate_has_a_floor_and_grows_until_there_is_no_limit() {
        let (mut bucket, now) = (Bucket::new(Instant::now()), Instant::now());
        for _ in 0..40 {
            bucket.throttled(now, None, now);
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
        bucket.throttled(now, Some(Duration::from_secs(30)), now);
        bucket.throttled(now, Some(Duration::from_secs(2)), now);
        assert_eq!(bucket.take(now), Err(Duration::from_secs(30)), "the longer wait counts");
        assert_eq!(over(&mut bucket, now, 30_000), 0);
        assert!(drain(&mut bucket, now + Duration::from_secs(30), 1_000) >= 1);
        let far = now + Duration::from_secs(31);
        bucket.pause(Duration::MAX, far);
        assert_eq!(bucket.paused(far), Some(PAUSE_MAX), "a mistake does not stop us for ever");
    }

    #[tokio::test(start_paused = true)]
    async fn the_wait_that_is_told_is_enough() {
        let (mut bucket, now) = (Bucket::new(Instant::now()), Instant::now());
        drain(&mut bucket, now, 7);
        bucket.throttled(now, None, now);
        let mut at = now;
        for _ in 0..20 {
            let Err(wait) = bucket.take(at) else { continue };
            at += wait;
            assert_eq!(bucket.take(at), Ok(()), "after {wait:?}");
        }
    }
}
