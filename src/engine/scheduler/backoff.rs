//! Per-resource exponential backoff with full jitter.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use chrono::{DateTime, Utc};
use rand_core::Rng;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::base::id::Key;
use crate::base::timers::Timers;

/// Ceiling of the wait before the first retry.
const FIRST: Duration = Duration::from_secs(1);
/// Largest ceiling of a wait.
const MOST: Duration = Duration::from_mins(5);
/// Number of failures in a row after which the ceiling stops growing.
const DOUBLINGS_MAX: u32 = 9;

#[derive(Debug, Default)]
struct BackoffEntry {
    failures: u32,
    /// True if its wait is over and it is queued: it does not become due a second time.
    queued: bool,
}

/// Every resource that waits for another try; those that can become due have a timer.
#[derive(Debug, Default)]
pub struct Backoff {
    waiting: BTreeMap<Key, BackoffEntry>,
    /// Empty if no resource will be retried.
    pub(crate) timers: Timers<Key, Instant>,
}

impl Backoff {
    /// Notes a failure: the next try is due after a growing, random wait, and not before `least`.
    /// Returns the number of failures.
    pub(crate) fn fail(&mut self, key: &Key, least: Duration, rng: &mut dyn Rng) -> u32 {
        let waiting = self.waiting.entry(key.clone()).or_default();
        waiting.failures = waiting.failures.saturating_add(1);
        waiting.queued = false;
        let wait = least.max(jittered_delay(waiting.failures, rng));
        self.timers.set(key.clone(), Instant::now().checked_add(wait));
        waiting.failures
    }

    /// Makes a resource due at no time: a try is under way, or it is given up until a change.
    pub(crate) fn stop(&mut self, key: &Key) {
        if let Some(waiting) = self.waiting.get_mut(key) {
            waiting.queued = false;
            self.timers.set(key.clone(), None);
        }
    }

    /// Makes these resources due now: the awaited condition is met. Failures stay counted.
    pub(crate) fn make_due(&mut self, keys: &BTreeSet<Key>) {
        let now = Instant::now();
        for key in keys {
            if let Some(due) = self.timers.due(key) {
                self.timers.set(key.clone(), Some(due.min(now)));
            }
        }
    }

    pub(crate) fn clear(&mut self, key: &Key) {
        if self.waiting.remove(key).is_some() {
            self.timers.set(key.clone(), None);
        }
    }

    pub(crate) fn has_failed(&self, key: &Key) -> bool {
        self.waiting.contains_key(key)
    }

    /// Returns true if a resource may not be tried now.
    pub(crate) fn is_blocked(&self, key: &Key) -> bool {
        let Some(waiting) = self.waiting.get(key) else { return false };
        !waiting.queued && self.timers.due(key).is_none_or(|due| due > Instant::now())
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.timers.next_due()
    }

    /// Returns the resources whose wait is over; their failures stay counted until they succeed.
    pub(crate) fn take_due(&mut self) -> BTreeSet<Key> {
        let now = Instant::now();
        let mut keys = BTreeSet::new();
        while let Some(key) = self.timers.pop_due(now) {
            if let Some(waiting) = self.waiting.get_mut(&key) {
                waiting.queued = true;
            }
            keys.insert(key);
        }
        keys
    }
}

/// Returns a random wait between zero and a ceiling that doubles with each failure.
pub(crate) fn jittered_delay(failures: u32, rng: &mut dyn Rng) -> Duration {
    let doublings = failures.saturating_sub(1).min(DOUBLINGS_MAX);
    let ceiling = FIRST.saturating_mul(2_u32.saturating_pow(doublings)).min(MOST);
    let millis = u64::try_from(ceiling.as_millis()).unwrap_or(u64::MAX).max(1);
    Duration::from_millis(rng.next_u64().checked_rem(millis).unwrap_or(0))
}

/// A day begins at such a boundary everywhere: time zones differ by quarters of an hour.
const QUARTER_MS: i64 = 15 * 60 * 1000;

pub(crate) fn time_to_next_quarter(now: DateTime<Utc>) -> Duration {
    let into = now.timestamp_millis().rem_euclid(QUARTER_MS);
    Duration::from_millis(u64::try_from(QUARTER_MS.saturating_sub(into)).unwrap_or(1))
}

pub(crate) fn instant_of(now: DateTime<Utc>, at: DateTime<Utc>) -> Option<Instant> {
    let wait = at.signed_duration_since(now).to_std().unwrap_or_default();
    Instant::now().checked_add(wait)
}

/// Sleeps until an instant, for ever if there is none.
pub(crate) async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// Waits until the clock is moved; waits for ever for a clock that cannot be moved.
pub(crate) async fn wait_for_clock_move(moves: &mut Option<watch::Receiver<i64>>) {
    if let Some(moves) = moves
        && moves.changed().await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_ends_where_a_day_can_begin() {
        let until = |text: &str| time_to_next_quarter(text.parse().unwrap()).as_secs();
        assert_eq!(until("2026-11-21T18:00:00Z"), 900);
        assert_eq!(until("2026-11-21T18:14:59Z"), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_that_is_over_comes_due_once() {
        let key: Key = "Contact/default/jane".parse().unwrap();
        let mut rng: rand_chacha::ChaCha20Rng = rand_core::SeedableRng::seed_from_u64(1);
        let mut backoff = Backoff::default();
        backoff.fail(&key, Duration::from_secs(5), &mut rng);
        assert!(backoff.is_blocked(&key) && backoff.take_due().is_empty());
        tokio::time::advance(Duration::from_secs(6)).await;
        assert_eq!(backoff.take_due(), BTreeSet::from([key.clone()]));
        assert!(!backoff.is_blocked(&key), "it may be tried");
        assert_eq!(backoff.next_due(), None, "it waits in the queue, for room and not for time");
        assert_eq!(backoff.fail(&key, Duration::ZERO, &mut rng), 2, "its failures stay counted");
        assert!(backoff.next_due().is_some());
    }
}
