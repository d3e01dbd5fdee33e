//! Due dates and amounts of a recurring charge.

use chrono::{Months, NaiveDate};
use serde_json::{Value, json};

use crate::base::money::Money;
use crate::base::schedule::Schedule;
use crate::base::schedule::problems::{RecurrenceLimits, occurrences};
use crate::kinds::planning::diff::amount;

/// Months of a schedule that are listed.
const MONTHS: u32 = 12;

/// Returns the payments from this day on, within twelve months of the first one. A schedule without
/// a start begins on this day.
pub(super) fn due_payments(spec: &Value, from: NaiveDate) -> Vec<(NaiveDate, Money)> {
    let money = spec.get("amount").and_then(amount);
    let Some((money, schedule)) = money.zip(schedule(spec, from)) else { return Vec::new() };
    let first = spec.get("first_amount").and_then(amount).unwrap_or(money);
    let due = |(date, minor): (NaiveDate, i64)| {
        let minor = if date == schedule.start { first.minor() } else { minor };
        (date, Money::new(minor, money.currency()))
    };
    let payments = occurrences(&schedule, money.minor(), limits(spec));
    let mut payments = payments.skip_while(|(date, _)| *date < from).map(due).peekable();
    let end = payments.peek().and_then(|(date, _)| date.checked_add_months(Months::new(MONTHS)));
    payments.take_while(|(date, _)| end.is_none_or(|end| *date < end)).collect()
}

fn schedule(spec: &Value, from: NaiveDate) -> Option<Schedule> {
    let mut schedule = spec.get("schedule")?.clone();
    let fields = schedule.as_object_mut()?;
    fields.entry("start").or_insert_with(|| json!(from));
    serde_json::from_value(schedule).ok()
}

fn limits(spec: &Value) -> RecurrenceLimits {
    let most = spec.get("max_occurrences").and_then(Value::as_u64);
    RecurrenceLimits {
        max_occurrences: most.and_then(|most| u32::try_from(most).ok()),
        max_amount: spec.get("max_amount").and_then(amount).map(Money::minor),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(spec: &Value) -> Vec<String> {
        let from = NaiveDate::from_ymd_opt(2030, 3, 10).unwrap();
        due_payments(spec, from).iter().map(|(date, money)| format!("{date} {money}")).collect()
    }

    #[test]
    fn a_year_of_payments_is_due_from_the_first_one_on() {
        let spec = json!({"amount": {"minor": 2700, "currency": "USD"},
            "schedule": {"start": "2029-01-31", "interval_unit": "MONTH", "interval_delay": 1}});
        let all = told(&spec);
        assert_eq!(
            (all.len(), &*all[0], &*all[1]),
            (12, "2030-03-31 27.00 USD", "2030-04-30 27.00 USD")
        );
    }

    #[test]
    fn limits_end_it_and_a_first_amount_is_that_of_the_first_day() {
        let spec = json!({"amount": {"minor": 1000, "currency": "USD"}, "max_amount": {"minor": 2500, "currency": "USD"},
            "first_amount": {"minor": 300, "currency": "USD"},
            "schedule": {"interval_unit": "WEEK", "interval_delay": 1}});
        assert_eq!(
            told(&spec),
            ["2030-03-10 3.00 USD", "2030-03-17 10.00 USD", "2030-03-24 5.00 USD"]
        );
        assert!(told(&json!({"amount": 5})).is_empty());
    }
}
