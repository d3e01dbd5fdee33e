//! Retry times of failed hooks.

use chrono::{DateTime, TimeDelta, Utc};

use crate::model::events::hook_run::TRIES_MAX;

/// The wait before the second try; it doubles with each further one.
const WAIT: TimeDelta = TimeDelta::seconds(30);
/// Longest wait of a hook for its next try.
const WAIT_MAX: TimeDelta = TimeDelta::minutes(8);

/// Returns the time of the next run of a hook that failed this number of times; `None`: no further
/// run.
pub(crate) fn next_retry(tries: u32, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let doublings = tries.saturating_sub(1);
    let wait = WAIT.checked_mul(2_i32.saturating_pow(doublings))?;
    (tries < TRIES_MAX).then(|| now.checked_add_signed(wait)).flatten()
}

/// Returns the latest time of a next try. A later one counts as due: the clock was set back.
pub(crate) fn latest_retry(now: DateTime<Utc>) -> DateTime<Utc> {
    now.checked_add_signed(WAIT_MAX).unwrap_or(DateTime::<Utc>::MAX_UTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_goes_back_puts_no_try_off_for_long() {
        let now = DateTime::UNIX_EPOCH;
        assert_eq!(latest_retry(now), now + TimeDelta::minutes(8));
        for tries in 1..TRIES_MAX {
            let again = next_retry(tries, now).unwrap();
            assert!(again - now <= WAIT_MAX, "{tries}");
        }
        assert_eq!(next_retry(TRIES_MAX, now), None);
    }
}
