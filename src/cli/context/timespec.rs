//! Moments as people write them: `--since` and `--until`.

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};

use crate::base::clock::parse_duration;
use crate::cli::exit::CommandFailure;

/// Parses a past moment: as it is written, the beginning of a date, or a duration before now.
///
/// # Errors
/// The text is none of these, or in the future.
pub(crate) fn parse_since(text: &str, now: DateTime<Utc>) -> Result<DateTime<Utc>, CommandFailure> {
    let wrong = |what: &str| {
        CommandFailure::input("reckon::since", format!("{text:?} is {what}"))
            .help("write a moment such as 2026-11-30T12:00:00Z, a date, or a time before now: 90m, 12h, 7d, 2w")
    };
    let moment = moment(text, |time| now.checked_sub_signed(time));
    let moment = moment.ok_or_else(|| wrong("not a time"))?;
    if moment > now { Err(wrong("in the future")) } else { Ok(moment) }
}

/// Parses a future moment: as it is written, the beginning of a date, or a duration from now.
///
/// # Errors
/// The text is none of these, or past.
pub(crate) fn parse_end(text: &str, now: DateTime<Utc>) -> Result<DateTime<Utc>, CommandFailure> {
    let wrong = |what: &str| {
        CommandFailure::input("reckon::suspend::until", format!("{text:?} is {what}"))
            .help("write a moment such as 2026-11-30T12:00:00Z, a date, or a time from now: 90m, 12h, 3d, 2w")
    };
    let moment = moment(text, |time| now.checked_add_signed(time));
    let moment = moment.ok_or_else(|| wrong("not a time"))?;
    if moment <= now { Err(wrong("in the past")) } else { Ok(moment) }
}

fn moment(
    text: &str,
    relative: impl FnOnce(TimeDelta) -> Option<DateTime<Utc>>,
) -> Option<DateTime<Utc>> {
    let moment = text.parse::<DateTime<Utc>>().ok();
    let date = || text.parse::<NaiveDate>().ok();
    let moment = moment.or_else(|| Some(date()?.and_time(NaiveTime::MIN).and_utc()));
    moment.or_else(|| relative(TimeDelta::from_std(parse_duration(text)?).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_is_a_moment_a_date_or_a_time_before_now() {
        let now = "2026-11-21T12:00:00Z".parse().unwrap();
        let read = |text: &str| parse_since(text, now).map(|since| since.to_rfc3339()).ok();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(read("2026-11-20T10:00:00+02:00"), some("2026-11-20T08:00:00+00:00"));
        assert_eq!(read("2026-11-20"), some("2026-11-20T00:00:00+00:00"));
        assert_eq!(read("7d"), some("2026-11-14T12:00:00+00:00"));
        for wrong in ["", "yesterday", "-3d", "2026-11-22", "7"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_end_is_a_moment_a_date_or_a_time_from_now_and_never_past() {
        let now = "2026-11-21T12:00:00Z".parse().unwrap();
        let read = |text: &str| parse_end(text, now).map(|until| until.to_rfc3339()).ok();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(read("2026-11-30T10:00:00+02:00"), some("2026-11-30T08:00:00+00:00"));
        assert_eq!(read("2026-11-30"), some("2026-11-30T00:00:00+00:00"));
        assert_eq!(read("90m"), some("2026-11-21T13:30:00+00:00"));
        assert_eq!(read("2w"), some("2026-12-05T12:00:00+00:00"));
        for wrong in ["", "soon", "m", "-3d", "0h", "3y", "2026-11-21", "2026-11-21T12:00:00Z", "é"]
        {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
