//! Time as a value: everything that needs the time takes a [`Clock`].
//!
//! The wall clock is read in one place. A simulated year passes in a second because tokio's paused
//! time moves [`VirtualClock`].

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Datelike, NaiveDate, NaiveTime, SecondsFormat, TimeDelta, Timelike, Utc};
use tokio::sync::watch;
use tokio::time::Instant;

/// Readings may step back with the machine's clock; order comes from sequences, never from time.
pub trait Clock: Send + Sync + Debug {
    fn now(&self) -> DateTime<Utc>;

    /// Returns the moves of an adjustable clock, in milliseconds ahead; `None` for others.
    fn moves(&self) -> Option<watch::Receiver<i64>> {
        None
    }
}

pub type SharedClock = Arc<dyn Clock>;

#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place where the wall clock is read")]
    fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }
}

/// An epoch plus the time that tokio's timers have counted since the clock was made. Under paused
/// time it moves only when the test (or an idle runtime) advances it.
#[derive(Clone, Copy, Debug)]
pub struct VirtualClock {
    epoch: DateTime<Utc>,
    start: Instant,
}

impl VirtualClock {
    pub fn new(epoch: DateTime<Utc>) -> Self {
        Self { epoch, start: Instant::now() }
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> DateTime<Utc> {
        let elapsed = TimeDelta::from_std(self.start.elapsed()).ok();
        let now = elapsed.and_then(|elapsed| self.epoch.checked_add_signed(elapsed));
        now.unwrap_or(DateTime::<Utc>::MAX_UTC)
    }
}

/// Formats as UTC ISO 8601 with milliseconds and `Z`, as the service does (service-facts, 17).
pub fn timestamp(time: &DateTime<Utc>) -> String {
    with_timestamp(time, str::to_owned)
}

/// Passes the text of [`timestamp`] to `see`.
pub(crate) fn with_timestamp<T>(time: &DateTime<Utc>, see: impl FnOnce(&str) -> T) -> T {
    let digits = timestamp_digits(time);
    match digits.as_ref().and_then(|digits| str::from_utf8(digits).ok()) {
        Some(text) => see(text),
        None => see(&time.to_rfc3339_opts(SecondsFormat::Millis, true)),
    }
}

/// Writes a time whose year has four digits, outside of a leap second; `None` for another one.
fn timestamp_digits(time: &DateTime<Utc>) -> Option<[u8; 24]> {
    let year = u32::try_from(time.year()).ok().filter(|year| *year <= 9999)?;
    let milliseconds = time.nanosecond() / 1_000_000;
    let mut text = *b"0000-00-00T00:00:00.000Z";
    for (at, number) in [
        (0..4, year),
        (5..7, time.month()),
        (8..10, time.day()),
        (11..13, time.hour()),
        (14..16, time.minute()),
        (17..19, time.second()),
        (20..23, milliseconds),
    ] {
        let mut rest = number;
        for digit in text.get_mut(at)?.iter_mut().rev() {
            *digit = b'0'.saturating_add(u8::try_from(rest % 10).ok()?);
            rest /= 10;
        }
    }
    (milliseconds < 1000).then_some(text)
}

/// Parses a moment as it is written, the beginning of a date, or a duration, which `relative` turns
/// into a moment.
pub fn parse_moment(
    text: &str,
    relative: impl FnOnce(TimeDelta) -> Option<DateTime<Utc>>,
) -> Option<DateTime<Utc>> {
    let moment = text.parse::<DateTime<Utc>>().ok();
    let date = || text.parse::<NaiveDate>().ok();
    let moment = moment.or_else(|| Some(date()?.and_time(NaiveTime::MIN).and_utc()));
    moment.or_else(|| relative(TimeDelta::from_std(parse_duration(text)?).ok()?))
}

/// Parses a duration: a number and one unit of `ms`, `s`, `m`, `h`, `d` and `w`.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let unit = text.find(|found: char| !found.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(unit)?;
    let number: u64 = number.parse().ok()?;
    let millis = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 604_800_000,
        _ => return None,
    };
    number.checked_mul(millis).map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn virtual_time_moves_with_the_timers_and_only_with_them() {
        let epoch = DateTime::from_timestamp(1_900_000_000, 0).unwrap();
        let clock = VirtualClock::new(epoch);
        assert_eq!(clock.now(), epoch);
        tokio::time::advance(Duration::from_hours(24)).await;
        assert_eq!(clock.now(), epoch + TimeDelta::days(1));
    }

    #[test]
    fn a_timestamp_has_milliseconds_and_ends_in_z() {
        let time = DateTime::from_timestamp(0, 5_999_999).unwrap();
        assert_eq!(timestamp(&time), "1970-01-01T00:00:00.005Z");
        assert_eq!(timestamp(&DateTime::UNIX_EPOCH), "1970-01-01T00:00:00.000Z");
        let far = DateTime::<Utc>::MAX_UTC;
        assert_eq!(timestamp(&far), far.to_rfc3339_opts(SecondsFormat::Millis, true));
    }

    /// Every moment is written as `chrono` writes it: short years and leap seconds, too.
    #[test]
    fn a_timestamp_is_that_of_chrono() {
        for seconds in (-70_000_000_000_i64..300_000_000_000).step_by(7_654_321).chain([59]) {
            for nanoseconds in [0, 999_999_999, 123_456_789, 1_500_000_000] {
                let Some(time) = DateTime::from_timestamp(seconds, nanoseconds) else { continue };
                assert_eq!(timestamp(&time), time.to_rfc3339_opts(SecondsFormat::Millis, true));
            }
        }
    }

    #[test]
    fn the_machine_s_clock_shows_a_time_after_this_was_written() {
        assert!(SystemClock.now() > DateTime::from_timestamp(1_700_000_000, 0).unwrap());
    }
}
