//! When a hook that failed is run again.

use chrono::{DateTime, TimeDelta, Utc};

use crate::model::ran::TRIES_MAX;

/// The wait before the second try; it doubles with each further one.
const WAIT: TimeDelta = TimeDelta::seconds(30);
/// No hook waits longer than this for its next try.
const WAIT_MAX: TimeDelta = TimeDelta::minutes(8);

/// When a hook that failed so often is run again. `None`: it is not.
pub(super) fn next(tries: u32, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let doublings = tries.saturating_sub(1);
    let wait = WAIT.checked_mul(2_i32.saturating_pow(doublings))?;
    (tries < TRIES_MAX).then(|| now.checked_add_signed(wait)).flatten()
}

/// The latest time of a next try. A later one counts as come: the clock went back.
pub(super) fn latest(now: DateTime<Utc>) -> DateTime<Utc> {
    now.checked_add_signed(WAIT_MAX).unwrap_or(DateTime::<Utc>::MAX_UTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_goes_back_puts_no_try_off_for_long() {
        let now = DateTime::UNIX_EPOCH;
        assert_eq!(latest(now), now + TimeDelta::minutes(8));
        for tries in 1..TRIES_MAX {
            let again = next(tries, now).unwrap();
            assert!(again - now <= WAIT_MAX, "{tries}");
        }
        assert_eq!(next(TRIES_MAX, now), None);
    }
}
