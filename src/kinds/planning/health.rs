//! Health of saved methods and recurring charges (payments that failed or were returned, cards that
//! expire), and warnings of past dates in documents whose objects are to be created.
//!
//! A date counts as past once it is past everywhere: the caller gives the earliest day that is
//! today anywhere.

use chrono::{DateTime, Datelike, Months, NaiveDate, NaiveTime, Utc};
use serde_json::Value;

use crate::base::clock::timestamp;
use crate::base::money::Money;
use crate::model::issue::Issue;
use crate::model::state::health::{ConditionStatus, Health, Payment, PaymentResult, Payments};
use crate::model::state::observed::Observed;

/// Century of years that are written with two digits.
const CENTURY: i32 = 2000;

/// Returns the health of a saved card by its expiry; well for every method that never expires.
pub(crate) fn of_method(known: &Observed, now: DateTime<Utc>) -> Health {
    let Some((month, over)) = expiry(known) else { return Health::healthy() };
    let named = month.format("%Y-%m");
    let (reason, status, message, since, turns) = if now >= over {
        let message = format!("the card expired at the end of {named} and can no longer pay");
        ("CardExpired", ConditionStatus::False, message, over, None)
    } else if now >= month {
        let message = format!("the card expires at the end of {named}");
        ("CardExpires", ConditionStatus::True, message, month, Some(over))
    } else {
        return Health { next_change: Some(month), ..Health::healthy() };
    };
    Health { status, reason, message, since: Some(since), next_change: turns }
}

/// Returns the health of a charge: its payments first, then the method that pays it.
pub(crate) fn of_charge(known: &Observed, method: Option<&Observed>, now: DateTime<Utc>) -> Health {
    let health = method.map_or_else(Health::healthy, |method| of_method(method, now));
    let Some(payments) = &known.payments else { return health };
    let since = Some(payments.since);
    if payments.failures == 0 {
        let since = if health.reason == Health::healthy().reason { since } else { health.since };
        return Health { since, ..health };
    }
    let reason = match payments.last.result {
        PaymentResult::Returned => "PaymentReturned",
        PaymentResult::Paid | PaymentResult::Declined | PaymentResult::Voided => "PaymentFailed",
    };
    let message = sentence(payments, known.text("currency"));
    Health {
        status: ConditionStatus::False,
        reason,
        message,
        since,
        next_change: health.next_change,
    }
}

/// Describes the newest attempt, and the number of failures before it.
fn sentence(payments: &Payments, currency_of_charge: Option<&str>) -> String {
    let Payment { result, amount, currency, reason, at, id } = &payments.last;
    let currency = currency.as_deref().or(currency_of_charge);
    let money = amount.zip(currency.and_then(|currency| currency.parse().ok()));
    let money = money.map(|(amount, currency)| Money::new(amount, currency));
    let money = money.map_or_else(String::new, |money| format!(" of {money}"));
    let why = reason.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
    let row = match payments.failures {
        0 | 1 => String::new(),
        more => format!("; {more} payments in a row failed"),
    };
    format!("the payment{money} was {} at {}{why}, {id}{row}", result.word(), timestamp(at))
}

/// Returns the first moment of the month at whose end a card expires, and the first one after that
/// month.
fn expiry(known: &Observed) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
    let month = u32::try_from(number(known.fact("exp_month"))?).ok()?;
    let year = i32::try_from(number(known.fact("exp_year"))?).ok()?;
    let year = if year < 100 { year.checked_add(CENTURY)? } else { year };
    let first = NaiveDate::from_ymd_opt(year, month, 1)?;
    let after = first.checked_add_months(Months::new(1))?;
    let begin = |day: NaiveDate| day.and_time(NaiveTime::MIN).and_utc();
    Some((begin(first), begin(after)))
}

/// Parses a number, or a text of digits.
fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// Months by which a schedule may have begun before today: a charge imported from another system
/// begins in the past.
const SCHEDULE_MONTHS: Months = Months::new(12);

/// Returns the date at a pointer.
fn date(spec: &Value, pointer: &str) -> Option<NaiveDate> {
    spec.pointer(pointer)?.as_str()?.get(..10)?.parse().ok()
}

/// Warns of an invoice whose date has passed.
pub(crate) fn overdue_invoice(spec: &Value, today: NaiveDate) -> Vec<Issue> {
    let over = date(spec, "/invoice_date").filter(|date| *date < today);
    let issue = |date: NaiveDate| {
        let message = format!("the invoice date {date} is in the past");
        let help = "write a later date, unless you want this one on the invoice";
        Issue::error("reckon::invoice::past", "spec.invoice_date", message, help).as_warning()
    };
    over.map(issue).into_iter().collect()
}

/// Warns of a card that has expired.
pub(crate) fn overdue_card(spec: &Value, today: NaiveDate) -> Vec<Issue> {
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
pub(crate) fn overdue_schedule(spec: &Value, today: NaiveDate) -> Vec<Issue> {
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
                    of_method(&known, at(now));
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
        let never = of_method(&card(Value::Null, Value::Null), at("2099-01-01T00:00:00Z"));
        assert_eq!(never, Health::healthy(), "a bank account never expires");
    }

    fn codes(issues: &[Issue]) -> Vec<&str> {
        issues.iter().map(|issue| issue.code).collect()
    }

    /// Closes M10.
    #[test]
    fn dates_that_are_over_are_warned_of_and_others_are_not() {
        let today: NaiveDate = "2026-11-23".parse().unwrap();
        for (day, warned) in [("2026-11-22", 1), ("2026-11-23", 0), ("2026-11-22T23:00:00Z", 1)] {
            assert_eq!(
                overdue_invoice(&json!({"invoice_date": day}), today).len(),
                warned,
                "{day}"
            );
        }
        for (month, year, warned) in [(10, 2026, 1), (11, 2026, 0), (1, 2027, 0), (12, 2025, 1)] {
            let spec = json!({"source": {"card": {"exp_month": month, "exp_year": year}}});
            assert_eq!(overdue_card(&spec, today).len(), warned, "{month}/{year}");
        }
        for (start, warned) in [("2024-01-01", 1), ("2026-01-01", 0), ("2027-01-01", 0)] {
            assert_eq!(
                overdue_schedule(&json!({"schedule": {"start": start}}), today).len(),
                warned
            );
        }
        assert_eq!(overdue_invoice(&json!({}), today), overdue_card(&json!({}), today));
        let issues = overdue_invoice(&json!({"invoice_date": "2020-01-01"}), today);
        assert_eq!(codes(&issues), ["reckon::invoice::past"]);
        assert_eq!(issues[0].severity, crate::model::issue::Severity::Warning);
    }
}
