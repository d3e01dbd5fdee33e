//! Limits the calls that posts can cause: a burst, and then one call at a time.

use std::time::Duration;

use tokio::time::Instant;

/// Largest number of posts looked up at once.
const MOST: usize = 60;
/// Time until one more lookup is permitted.
const REFILL: Duration = Duration::from_secs(2);

/// The remaining lookups for one merchant's posts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LookupQuota {
    left: usize,
    since: Option<Instant>,
}

impl Default for LookupQuota {
    fn default() -> Self {
        Self { left: MOST, since: None }
    }
}

impl LookupQuota {
    /// Returns the number of posts that may be looked up now.
    pub(crate) fn available(&mut self, now: Instant) -> usize {
        let Some(since) = self.since else { return self.left };
        let passed = now.saturating_duration_since(since).as_secs();
        let gained = passed.checked_div(REFILL.as_secs()).unwrap_or_default();
        let gained = usize::try_from(gained).unwrap_or(MOST);
        if gained > 0 {
            self.left = self.left.saturating_add(gained).min(MOST);
            self.since = (self.left < MOST).then_some(now);
        }
        self.left
    }

    /// Subtracts lookups that were made.
    pub(crate) fn spend(&mut self, read_backs: usize, now: Instant) {
        self.left = self.left.saturating_sub(read_backs);
        if read_backs > 0 {
            self.since.get_or_insert(now);
        }
    }

    /// Returns the wait until one more lookup is permitted.
    pub(crate) fn next(&self) -> Duration {
        if self.left > 0 { Duration::ZERO } else { REFILL }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_is_posted_makes_us_call_in_bounded_number() {
        let start = Instant::now();
        let mut budget = LookupQuota::default();
        assert_eq!(budget.available(start), 60);
        budget.spend(60, start);
        assert_eq!((budget.available(start), budget.next()), (0, REFILL));
        let later = |seconds| start.checked_add(Duration::from_secs(seconds)).unwrap();
        assert_eq!(budget.available(later(5)), 2);
        assert_eq!(budget.available(later(3600)), 60, "it grows no further");
    }
}
