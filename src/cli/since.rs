//! `--since`: a moment, as people write one.

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};

use super::exit::Failure;

/// Reads `7d`, `12h` and `30m` before now, a date, or a timestamp. Errors: it is none of them.
pub(super) fn read(text: &str, now: DateTime<Utc>) -> Result<DateTime<Utc>, Failure> {
    let date =
        || text.parse::<NaiveDate>().ok().map(|date| date.and_time(NaiveTime::MIN).and_utc());
    let time = || DateTime::parse_from_rfc3339(text).ok().map(|time| time.with_timezone(&Utc));
    let found = ago(text).and_then(|ago| now.checked_sub_signed(ago)).or_else(date).or_else(time);
    found.ok_or_else(|| {
        Failure::input("reckon::since", format!("{text:?} is no moment"))
            .help("write how long ago (7d, 12h, 30m), a date (2026-11-30), or a time (2026-11-30T12:00:00Z)")
    })
}

fn ago(text: &str) -> Option<TimeDelta> {
    let of = |unit: char| text.strip_suffix(unit)?.parse::<u32>().ok().map(i64::from);
    let days = of('d').and_then(TimeDelta::try_days);
    let hours = || of('h').and_then(TimeDelta::try_hours);
    days.or_else(hours).or_else(|| of('m').and_then(TimeDelta::try_minutes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_as_people_write_it() {
        let now: DateTime<Utc> = "2026-11-30T12:00:00Z".parse().unwrap();
        let moment = |text: &str| read(text, now).map(|at| at.to_rfc3339()).ok();
        assert_eq!(moment("7d").as_deref(), Some("2026-11-23T12:00:00+00:00"));
        assert_eq!(moment("90m").as_deref(), Some("2026-11-30T10:30:00+00:00"));
        assert_eq!(moment("2026-11-01").as_deref(), Some("2026-11-01T00:00:00+00:00"));
        assert_eq!(
            moment("2026-11-01T02:00:00+02:00").as_deref(),
            Some("2026-11-01T00:00:00+00:00")
        );
        for wrong in ["", "d", "-1d", "7", "7 days", "4294967295d", "99999999999999999999d", "soon"]
        {
            assert_eq!(moment(wrong), None, "{wrong}");
        }
    }
}
