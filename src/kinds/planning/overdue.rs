//! Warnings of past dates, in documents whose objects are to be created.
//!
//! A date counts as past once it is past everywhere: the caller gives the earliest day that is
//! today anywhere.

use chrono::{Datelike, Months, NaiveDate};
use serde_json::Value;

use crate::model::issue::Issue;

/// Months by which a schedule may have begun before today: a charge imported from another system
/// begins in the past.
const SCHEDULE_MONTHS: Months = Months::new(12);

/// Returns the date at a pointer.
fn date(spec: &Value, pointer: &str) -> Option<NaiveDate> {
    spec.pointer(pointer)?.as_str()?.get(..10)?.parse().ok()
}

/// Warns of an invoice whose date has passed.
pub(crate) fn invoice(spec: &Value, today: NaiveDate) -> Vec<Issue> {
    let over = date(spec, "/invoice_date").filter(|date| *date < today);
    let issue = |date: NaiveDate| {
        let message = format!("the invoice date {date} is in the past");
        let help = "write a later date, unless you want this one on the invoice";
        Issue::error("reckon::invoice::past", "spec.invoice_date", message, help).as_warning()
    };
    over.map(issue).into_iter().collect()
}

/// Warns of a card that has expired.
pub(crate) fn card(spec: &Value, today: NaiveDate) -> Vec<Issue> {
    let number = |field: &str| spec.pointer(&format!("/source/card/{field}"))?.as_i64();
    let Some((month, year)) = number("exp_month").zip(number("exp_year")) else {
        return Vec::new();
    };
    if (year, month) >= (i64::from(today.year()), i64::from(today.month())) {
        return Vec::new();
    }
    let message = format!("the card expired in {month:02}/{year}");
    let help = "write the date of the new card, or ask its holder for another one";
    let path = "spec.source.card.exp_year";
    vec![Issue::error("reckon::saved_method::expired", path, message, help).as_warning()]
}

/// Warns of a schedule that began more than a year ago.
pub(crate) fn schedule(spec: &Value, today: NaiveDate) -> Vec<Issue> {
    let Some(least) = today.checked_sub_months(SCHEDULE_MONTHS) else { return Vec::new() };
    let over = date(spec, "/schedule/start").filter(|start| *start < least);
    let issue = |start: NaiveDate| {
        let message = format!("the schedule began on {start}, more than a year ago");
        let help = "check the year; payments before today are not collected";
        Issue::error("reckon::recurring_charge::old_start", "spec.schedule.start", message, help)
            .as_warning()
    };
    over.map(issue).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn codes(issues: &[Issue]) -> Vec<&str> {
        issues.iter().map(|issue| issue.code).collect()
    }

    /// Closes M10.
    #[test]
    fn dates_that_are_over_are_warned_of_and_others_are_not() {
        let today: NaiveDate = "2026-11-23".parse().unwrap();
        for (day, warned) in [("2026-11-22", 1), ("2026-11-23", 0), ("2026-11-22T23:00:00Z", 1)] {
            assert_eq!(invoice(&json!({"invoice_date": day}), today).len(), warned, "{day}");
        }
        for (month, year, warned) in [(10, 2026, 1), (11, 2026, 0), (1, 2027, 0), (12, 2025, 1)] {
            let spec = json!({"source": {"card": {"exp_month": month, "exp_year": year}}});
            assert_eq!(card(&spec, today).len(), warned, "{month}/{year}");
        }
        for (start, warned) in [("2024-01-01", 1), ("2026-01-01", 0), ("2027-01-01", 0)] {
            assert_eq!(schedule(&json!({"schedule": {"start": start}}), today).len(), warned);
        }
        assert_eq!(invoice(&json!({}), today), card(&json!({}), today));
        let issues = invoice(&json!({"invoice_date": "2020-01-01"}), today);
        assert_eq!(codes(&issues), ["reckon::invoice::past"]);
        assert_eq!(issues[0].severity, crate::model::issue::Severity::Warning);
    }
}
