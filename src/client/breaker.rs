//! A circuit breaker for one host, which stops calls to a host that does not serve.
//!
//! Each host has one, and no merchant has. Connections, proxies and server errors are the host's,
//! so ten failures of any merchants prove as much as ten thousand. Failures of a single merchant,
//! such as a processor that is down, do not count
//! ([`crate::model::error_class::FailureSignal::is_host_down`]).
//!
//! A pure state machine; the time and the randomness are passed in. After [`FAILURES_MAX`] failures
//! in a row the breaker is open: no call goes out. After its wait it is half open: the first caller
//! sends one request that changes nothing. Any answer of a serving host closes the breaker; a
//! failure opens it for longer. No effect is ever the probe, since an unanswered effect is in
//! doubt.

use std::time::Duration;

use rand_core::Rng;
use tokio::time::Instant;

/// Failures in a row that open the breaker: more than chance produces when a third of all calls
/// fails.
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
    /// The call may go out.
    Free,
    ProbeFirst,
    /// The call may not go out before this wait is over.
    Unavailable(Duration),
}

impl Breaker {
    /// Decides whether a call may go out now.
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

    /// Returns the start of the host's silence and the time of the next probe, while no call goes
    /// out.
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
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_core::SeedableRng;

    fn dice() -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(7)
    }

    fn opened(now: Instant) -> Breaker {
        let mut breaker = Breaker::default();
        let opened: Vec<bool> =
            (0..FAILURES_MAX).map(|_| breaker.record_failure(now, &mut dice())).collect();
        assert_eq!(opened.iter().filter(|opened| **opened).count(), 1);
        assert_eq!(opened.last(), Some(&true));
        breaker
    }

    fn shut(breaker: &mut Breaker, now: Instant) -> Duration {
        let Admission::Unavailable(wait) = breaker.admit(now) else { panic!("not shut") };
        wait
    }

    #[tokio::test(start_paused = true)]
    async fn a_success_in_between_keeps_it_closed() {
        let (mut breaker, now) = (Breaker::default(), Instant::now());
        for _ in 0..100 {
            for _ in 1..FAILURES_MAX {
                assert!(!breaker.record_failure(now, &mut dice()));
            }
            assert!(!breaker.record_success(now));
        }
        assert_eq!((breaker.admit(now), breaker.silence()), (Admission::Free, None));
    }

    #[tokio::test(start_paused = true)]
    async fn it_opens_and_one_alone_probes_when_its_wait_is_over() {
        let now = Instant::now();
        let mut breaker = opened(now);
        let wait = shut(&mut breaker, now);
        assert!((Duration::from_secs(1)..=WAIT_FIRST).contains(&wait), "{wait:?}");
        assert_eq!(breaker.silence(), Some((now, now + wait)));
        assert_eq!(breaker.admit(now + wait), Admission::ProbeFirst);
        assert_eq!(breaker.admit(now + wait), Admission::Unavailable(WAIT_FIRST), "one probe");
        let late = now + wait + PROBE_MAX;
        assert_eq!(breaker.admit(late), Admission::ProbeFirst, "the first was abandoned");
    }

    #[tokio::test(start_paused = true)]
    async fn a_probe_that_fails_makes_the_wait_grow_up_to_its_limit() {
        let mut now = Instant::now();
        let mut breaker = opened(now);
        let mut waits = Vec::new();
        for _ in 0..12 {
            now += shut(&mut breaker, now);
            assert_eq!(breaker.admit(now), Admission::ProbeFirst);
            breaker.record_probe(false, now, &mut dice());
            waits.push(shut(&mut breaker, now));
        }
        assert!(waits.windows(2).take(5).all(|pair| pair[0] < pair[1]), "{waits:?}");
        assert!(waits.iter().all(|wait| *wait <= WAIT_MAX), "{waits:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_good_probe_one_failure_opens_it_again_and_one_success_clears_it() {
        let now = Instant::now();
        let mut breaker = opened(now);
        breaker.record_probe(true, now, &mut dice());
        assert_eq!(breaker.admit(now), Admission::Free);
        assert!(breaker.record_failure(now, &mut dice()));
        let later = now + AWAY_MIN;
        breaker.record_probe(true, later, &mut dice());
        assert!(
            breaker.record_success(later) && !breaker.record_success(later),
            "it was away, and is back"
        );
        assert!(!breaker.record_failure(now, &mut dice()));
        assert_eq!(breaker.admit(now), Admission::Free);
    }

    #[tokio::test(start_paused = true)]
    async fn answers_to_older_calls_do_not_close_it() {
        let now = Instant::now();
        let mut breaker = opened(now);
        assert!(!breaker.record_success(now));
        assert!(breaker.silence().is_some());
        assert!(!breaker.record_failure(now, &mut dice()), "nor does a failure open it twice");
    }
}
