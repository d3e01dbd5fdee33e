//! `at_most` of a notification: a maximum count within a span of the events' own time.
//!
//! Spans follow one another from 1970-01-01T00:00Z on. An event belongs to the span of its own
//! time, whenever it becomes known. So the same events allow the same notifications, in a rehearsal
//! and in production.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// The largest count.
pub const COUNT_MAX: u32 = 1000;
/// Maximum remembered spans of one key and length, the newest ones. An event of an older span sends
/// no notification.
pub const SPANS_MAX: usize = 32;

/// A bound on notifications.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtMost {
    /// The counter's key, within one merchant and script.
    pub key: String,
    /// Maximum notifications within a span.
    pub count: u32,
    /// The length of a span in seconds.
    pub seconds: u64,
    /// The number of the span of the event.
    pub span: i64,
}

/// Returns the number of a moment's span of `seconds` seconds; `None` if the span is empty or too
/// long.
pub fn span_number(at: DateTime<Utc>, seconds: u64) -> Option<i64> {
    let seconds = i64::try_from(seconds).ok().filter(|seconds| *seconds > 0)?;
    Some(at.timestamp().div_euclid(seconds))
}

/// Parses a span such as `1d`, `12h` or `30m` into seconds; `None` for any other text.
pub fn parse_span(text: &str) -> Option<u64> {
    let unit = text.find(|found: char| !found.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(unit)?;
    let seconds: u64 = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(seconds).filter(|seconds| *seconds > 0)
}

/// Notifications of one key, by the length and the number of their span.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotificationCounts(BTreeMap<u64, BTreeMap<i64, u32>>);

impl NotificationCounts {
    /// Counts one more notification if the bound allows it, and returns whether it does.
    pub fn allows(&mut self, bound: &AtMost) -> bool {
        let spans = self.0.entry(bound.seconds).or_default();
        let oldest = spans.keys().next().copied().filter(|_| spans.len() >= SPANS_MAX);
        if oldest.is_some_and(|oldest| bound.span < oldest) {
            return false;
        }
        let count = spans.entry(bound.span).or_default();
        if *count >= bound.count {
            return false;
        }
        *count = count.saturating_add(1);
        while spans.len() > SPANS_MAX {
            spans.pop_first();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(span: i64) -> AtMost {
        AtMost { key: "ops".to_owned(), count: 2, seconds: 60, span }
    }

    #[test]
    fn k16_a_span_allows_its_count_in_whatever_order_events_come() {
        let mut counted = NotificationCounts::default();
        let allowed: Vec<bool> = [5, 4, 5, 5, 4, 4, 6].map(|at| counted.allows(&bound(at))).into();
        assert_eq!(allowed, [true, true, true, false, true, false, true]);
        for at in 100..200 {
            assert!(counted.allows(&bound(at)));
        }
        assert!(!counted.allows(&bound(100)), "the count of a dropped span is unknown");
    }

    #[test]
    fn k16_spans_are_cut_by_the_events_own_time() {
        let at = |text: &str| DateTime::parse_from_rfc3339(text).unwrap().to_utc();
        let day = parse_span("1d").unwrap();
        let of = |text: &str| span_number(at(text), day);
        assert_eq!(of("2026-11-30T00:00:00Z"), of("2026-11-30T23:59:59Z"));
        assert_ne!(of("2026-11-30T23:59:59Z"), of("2026-12-01T00:00:00Z"));
        assert_eq!(of("1969-12-31T23:59:59Z"), Some(-1));
        assert_eq!(
            ["1", "d", "0d", "1y", "-1d", "99999999999999999999d"].map(parse_span),
            [None; 6]
        );
        assert_eq!(parse_span("2w"), Some(1_209_600));
    }
}
