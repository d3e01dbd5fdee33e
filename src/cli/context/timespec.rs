//! `--since`: parses a moment, as people write one.

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};

use crate::cli::commands::suspend::parse_duration;
use crate::cli::output::exit::CommandFailure;

/// Parses a past moment: as it is written, the beginning of a date, or a duration before now.
///
/// # Errors
/// The text is none of these, or in the future.
pub(crate) fn parse_since(text: &str, now: DateTime<Utc>) -> Result<DateTime<Utc>, CommandFailure> {
    let date = |text: &str| text.parse::<NaiveDate>().ok();
    let moment = text.parse::<DateTime<Utc>>().ok();
    let moment = moment.or_else(|| Some(date(text)?.and_time(NaiveTime::MIN).and_utc()));
    let moment = moment.or_else(|| now.checked_sub_signed(parse_duration(text)?));
    let wrong = |what: String| {
        CommandFailure::input("reckon::since", what)
            .help("write a moment such as 2026-11-30T12:00:00Z, a date, or a time before now: 90m, 12h, 7d, 2w")
    };
    let moment = moment.ok_or_else(|| wrong(format!("{text:?} is not a time")))?;
    if moment > now {
        return Err(wrong(format!("{text:?} is in the future")));
    }
    Ok(moment)
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
}
