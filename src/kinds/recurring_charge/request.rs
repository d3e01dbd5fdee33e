//! Bodies of the requests that create and change a recurring charge, the one date on which it
//! cannot start (today, for the merchant), and the dates and amounts of its payments (gateway-api,
//! POST /v1/recurring/charges; service-facts, 63).

use chrono::{Months, NaiveDate};
use serde_json::{Value, json};

use crate::base::id::Key;
use crate::base::money::Money;
use crate::base::schedule::{RecurrenceLimits, Schedule, occurrences};
use crate::effects::core::context::{copy_fields, set_field, set_optional};
use crate::kinds::merchant::zone;
use crate::kinds::planning::diff::amount;
use crate::kinds::planning::step::{MERCHANT, StepCx, ready_id, reference, text, unsuitable};
use crate::kinds::recurring_charge::account::{self, SurchargeQuote, amount_before_surcharge};
use crate::kinds::saved_method::SavedMethodKind;
use crate::kinds::schema::kind::SpecSchema;
use crate::model::manifest::Manifest;
use crate::model::plan::Reason;
use crate::model::state::drift::FieldChange;
use crate::model::state::observed::Observed;

pub(super) fn amount_per_occurrence(spec: &Value) -> Result<Money, Reason> {
    spec.get("amount").and_then(amount).ok_or_else(|| unsuitable("the charge has no amount"))
}

/// Builds the body of POST /v1/recurring/charges, but for description and reference.
pub(super) fn scheduled_body(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    owner: &Observed,
) -> Result<Value, Reason> {
    let spec = &manifest.spec;
    let money = amount_per_occurrence(spec)?;
    let mut body = payment(cx, manifest, owner, money)?;
    copy_fields(&mut body, spec, &["schedule"]);
    limits(spec, &mut body);
    Ok(body)
}

/// Builds the body of POST /v1/charges with `recur`, but for description and reference. The
/// recurring amount is named where it differs from the amount charged now.
pub(super) fn charge_now_body(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    owner: &Observed,
    quote: &SurchargeQuote,
) -> Result<Value, Reason> {
    let spec = &manifest.spec;
    let money = amount_per_occurrence(spec)?;
    let first =
        amount_before_surcharge(spec).ok_or_else(|| unsuitable("the charge has no amount"))?;
    let mut body = payment(cx, manifest, owner, first)?;
    let mut charged = first.minor();
    if let SurchargeQuote::Known { surcharge, total } = quote
        && *surcharge > 0
    {
        charged = *total;
        set_field(&mut body, "amount", charged);
        set_field(&mut body, "surcharge_amount", *surcharge);
    }
    let mut recur = spec.get("schedule").cloned().unwrap_or_default();
    if charged != money.minor() {
        set_field(&mut recur, "amount", money.minor());
    }
    limits(spec, &mut recur);
    set_field(&mut body, "recur", recur);
    Ok(body)
}

fn payment(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    owner: &Observed,
    money: Money,
) -> Result<Value, Reason> {
    let method = reference(manifest, SavedMethodKind::NAME)
        .ok_or_else(|| unsuitable("the charge names no method"))?;
    let mut body = json!({
        "method": ready_id(cx, &method)?,
        "amount": money.minor(),
        "currency": money.currency(),
    });
    set_optional(&mut body, "account_id", account::id(cx, manifest, owner, money)?);
    Ok(body)
}

fn limits(spec: &Value, body: &mut Value) {
    set_optional(body, "max_occurrences", spec.get("max_occurrences").cloned());
    set_optional(body, "max_amount", spec.get("max_amount").and_then(amount).map(Money::minor));
}

/// Body of a PATCH, but for a method.
#[derive(Debug)]
pub(super) struct ChangeBody<'a> {
    pub(super) body: Value,
    pub(super) text: Option<&'a str>,
}

pub(super) fn change_body<'a>(
    cx: &StepCx<'_>,
    manifest: &'a Manifest,
    have: Option<&Observed>,
    changes: &[FieldChange],
) -> Result<ChangeBody<'a>, Reason> {
    let spec = &manifest.spec;
    let touched = |field: &str| {
        changes.iter().any(|change| change.path.split(['.', '[']).next() == Some(field))
    };
    check_changeable(spec, have)?;
    let mut body = json!({});
    if touched("amount") {
        set_field(&mut body, "amount", json!(amount_per_occurrence(spec)?.minor()));
    }
    if touched("schedule") {
        refuse_start_today(cx, manifest)?;
        copy_fields(&mut body, spec, &["schedule"]);
    }
    if touched("max_occurrences") {
        copy_fields(&mut body, spec, &["max_occurrences"]);
    }
    if touched("max_amount") {
        let most = spec.get("max_amount").and_then(amount).map(Money::minor);
        set_field(&mut body, "max_amount", json!(most));
    }
    let text = touched("description").then(|| text(spec, "description"));
    Ok(ChangeBody { body, text })
}

/// Rejects changes that a PATCH cannot make: it keeps unnamed fields, and has no currency.
fn check_changeable(spec: &Value, have: Option<&Observed>) -> Result<(), Reason> {
    let before = have.and_then(|have| have.applied.as_ref()).map(|applied| &applied.spec);
    let currency = |spec: &Value| spec.get("amount").and_then(amount).map(Money::currency);
    if before.and_then(currency).is_some_and(|before| Some(before) != currency(spec)) {
        return Err(unsuitable("amount: the service cannot change a recurring charge's currency"));
    }
    let gone = ["/max_occurrences", "/max_amount", "/schedule/end", "/schedule/days"];
    let gone = gone.iter().find(|path| {
        let had = before.is_some_and(|before| before.pointer(path).is_some());
        had && spec.pointer(path).is_none()
            && !(**path == "/schedule/days" && unit_differs(spec, before))
    });
    match gone {
        None => Ok(()),
        Some(path) => {
            let path = path.trim_start_matches('/').replace('/', ".");
            Err(Reason::Unsuitable(format!(
                "{path}: the service keeps a field that a change leaves out, so the field cannot be removed; write \
                 another value"
            )))
        }
    }
}

/// Returns whether the unit changed: days belong to their unit, so another unit removes them.
fn unit_differs(spec: &Value, before: Option<&Value>) -> bool {
    let unit = |spec: &Value| {
        spec.get("schedule").map(|schedule| text(schedule, "interval_unit").to_owned())
    };
    before.and_then(unit) != unit(spec)
}

/// Rejects a schedule that starts today for the merchant, where the time zone is known.
pub(super) fn refuse_start_today(cx: &StepCx<'_>, manifest: &Manifest) -> Result<(), Reason> {
    let start = manifest.spec.pointer("/schedule/start").and_then(Value::as_str);
    let start = start.and_then(|start| start.parse::<NaiveDate>().ok());
    let merchant = reference(manifest, MERCHANT);
    match (start, merchant.and_then(|merchant| today_of(cx, &merchant))) {
        (Some(start), Some(today)) if start == today => Err(Reason::DueToday(format!(
            "the charge would start today, {today} for the merchant, which the service refuses \
             (first_occurrence_due_immediately): write a later start, or wait until tomorrow"
        ))),
        (Some(_) | None, _) => Ok(()),
    }
}

/// Returns the merchant's current date, in its document's zone, else in the service's.
pub(super) fn today_of(cx: &StepCx<'_>, merchant: &Key) -> Option<NaiveDate> {
    let said = cx.view.manifest(merchant);
    let said = said.as_ref().and_then(|said| said.spec.get("timezone")?.as_str());
    let known = cx.view.observed_state(merchant);
    let read = known.as_ref().and_then(|known| known.text("timezone"));
    let zone = zone::find(said.or(read)?)?;
    Some(cx.now.with_timezone(&zone).date_naive())
}

const MONTHS: u32 = 12;

/// Returns twelve months of payments from this day on. A schedule without a start begins then.
pub(super) fn due_payments(spec: &Value, from: NaiveDate) -> Vec<(NaiveDate, Money)> {
    let money = spec.get("amount").and_then(amount);
    let schedule = || {
        let mut schedule = spec.get("schedule")?.clone();
        schedule.as_object_mut()?.entry("start").or_insert_with(|| json!(from));
        serde_json::from_value::<Schedule>(schedule).ok()
    };
    let Some((money, schedule)) = money.zip(schedule()) else { return Vec::new() };
    let first = spec.get("first_amount").and_then(amount).unwrap_or(money);
    let due = |(date, minor): (NaiveDate, i64)| {
        let minor = if date == schedule.start { first.minor() } else { minor };
        (date, Money::new(minor, money.currency()))
    };
    let most = spec.get("max_occurrences").and_then(Value::as_u64);
    let limits = RecurrenceLimits {
        max_occurrences: most.and_then(|most| u32::try_from(most).ok()),
        max_amount: spec.get("max_amount").and_then(amount).map(Money::minor),
    };
    let payments = occurrences(&schedule, money.minor(), limits);
    let mut payments = payments.skip_while(|(date, _)| *date < from).map(due).peekable();
    let end = payments.peek().and_then(|(date, _)| date.checked_add_months(Months::new(MONTHS)));
    payments.take_while(|(date, _)| end.is_none_or(|end| *date < end)).collect()
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
