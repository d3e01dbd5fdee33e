//! Health and warnings that come with the date alone.

use chrono::{DateTime, NaiveDate, Utc};
use serde_json::{Value, json};

use crate::kinds::register::find;
use crate::kinds::saved_method::step::method_health;
use crate::model::issue::{Issue, Severity};
use crate::model::state::health::{ConditionStatus, Health};
use crate::model::state::observed::Observed;

#[expect(
    clippy::needless_pass_by_value,
    reason = "a row of a table is written where it is used"
)]
fn card(month: Value, year: Value) -> Observed {
    let merchant = "Merchant/acme".parse().unwrap();
    let facts = json!({"exp_month": month, "exp_year": year});
    Observed { facts, ..Observed::unknown(merchant, DateTime::UNIX_EPOCH) }
}

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// Closes M3.
#[test]
fn a_card_is_well_expires_and_has_expired_by_the_months_of_the_service() {
    for (month, year) in [(json!(12), json!(2026)), (json!("12"), json!("26"))] {
        let known = card(month, year);
        let told = |now: &str| {
            let Health { status, reason, since, next_change: turns, .. } =
                method_health(&known, at(now));
            (status, reason, since, turns)
        };
        let (begin, over) = (at("2026-12-01T00:00:00Z"), at("2027-01-01T00:00:00Z"));
        let well = (ConditionStatus::True, "NothingWrong", None, Some(begin));
        assert_eq!(told("2026-11-30T23:59:59Z"), well);
        let expires = (ConditionStatus::True, "CardExpires", Some(begin), Some(over));
        assert_eq!(told("2026-12-01T00:00:00Z"), expires);
        assert_eq!(told("2026-12-31T23:59:59Z"), expires);
        assert_eq!(
            told("2027-01-01T00:00:00Z"),
            (ConditionStatus::False, "CardExpired", Some(over), None)
        );
    }
    let never = method_health(&card(Value::Null, Value::Null), at("2099-01-01T00:00:00Z"));
    assert_eq!(never, Health::healthy(), "a bank account never expires");
}

fn overdue(kind: &str, spec: &Value) -> Vec<Issue> {
    let today: NaiveDate = "2026-11-23".parse().unwrap();
    (find(kind).unwrap().overdue)(spec, today)
}

/// Closes M10.
#[test]
fn dates_that_are_over_are_warned_of_and_others_are_not() {
    for (day, warned) in [("2026-11-22", 1), ("2026-11-23", 0), ("2026-11-22T23:00:00Z", 1)] {
        assert_eq!(overdue("Invoice", &json!({"invoice_date": day})).len(), warned, "{day}");
    }
    for (month, year, warned) in [(10, 2026, 1), (11, 2026, 0), (1, 2027, 0), (12, 2025, 1)] {
        let spec = json!({"source": {"card": {"exp_month": month, "exp_year": year}}});
        assert_eq!(overdue("SavedMethod", &spec).len(), warned, "{month}/{year}");
    }
    for (start, warned) in [("2024-01-01", 1), ("2026-01-01", 0), ("2027-01-01", 0)] {
        let spec = json!({"schedule": {"start": start}});
        assert_eq!(overdue("RecurringCharge", &spec).len(), warned, "{start}");
    }
    assert_eq!(overdue("Invoice", &json!({})), overdue("SavedMethod", &json!({})));
    let issues = overdue("Invoice", &json!({"invoice_date": "2020-01-01"}));
    assert_eq!(issues.len(), 1);
    assert_eq!((issues[0].code, issues[0].severity), ("reckon::invoice::past", Severity::Warning));
}
