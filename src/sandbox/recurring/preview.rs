//! GET /v1/recurring/charges/schedule: a preview of a recurring charge (gateway-api).

use chrono::NaiveDate;

use super::recurring_charges::calendar;
use crate::api::recurring::charge::NewRecurringCharge;
use crate::api::recurring::preview::{
    PREVIEW_OCCURRENCES_DEFAULT, PREVIEW_OCCURRENCES_MAX, Preview, PreviewOccurrence,
    PreviewRequest,
};
use crate::api::recurring::rules::rules;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::state::lists::{number, to_usize};
use crate::sandbox::state::store::ChangeUnit;

/// Payments counted for the remaining ones; a longer schedule is reported without an end.
const REMAINING_MAX: usize = 10_000;

pub(crate) fn show(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
    request: PreviewRequest,
) -> Result<Preview, SandboxRefusal> {
    let shown = number(asked, "occurrences", 1, PREVIEW_OCCURRENCES_MAX)?;
    let shown = to_usize(shown.unwrap_or(PREVIEW_OCCURRENCES_DEFAULT));
    let today = cx.merchant(&asked.owner()?.merchant)?.today(cx.now);
    let first = first_date(asked, today)?;
    let mut new = NewRecurringCharge {
        amount: request.amount,
        schedule: Some(request.schedule.unwrap_or_default()),
        max_occurrences: request.max_occurrences,
        max_amount: request.max_amount,
        ..NewRecurringCharge::default()
    };
    if let Some(schedule) = &mut new.schedule {
        schedule.start = schedule.start.or(Some(first));
    }
    check(&new)?;
    let amount = new.amount.unwrap_or(0);
    let schedule = new.schedule.unwrap_or_default();
    let calendar = calendar(&schedule)?;
    let dates = calendar.dates_from(first).take(REMAINING_MAX);
    let all = payments(dates, amount, new.max_occurrences, new.max_amount);
    let ends = all.len() < REMAINING_MAX;
    let sum = all.iter().try_fold(0_i64, |sum, (_, amount)| sum.checked_add(*amount));
    let remaining = i64::try_from(all.len()).ok().filter(|_| ends);
    let list = all.iter().take(shown);
    Ok(Preview {
        amount,
        max_occurrences: new.max_occurrences,
        max_amount: new.max_amount,
        total_occurrences: 0,
        total_amount: 0,
        remaining_occurrences: remaining,
        remaining_amount: sum.filter(|_| ends),
        next_payment: all.first().map(|(date, _)| *date),
        occurrences: list
            .map(|(date, amount)| PreviewOccurrence { amount: *amount, due_date: Some(*date) })
            .collect(),
        schedule: Some(schedule),
    })
}

/// Returns the dates with their amounts, until a limit ends them.
fn payments(
    dates: impl Iterator<Item = NaiveDate>,
    amount: i64,
    most: Option<i64>,
    mut left: Option<i64>,
) -> Vec<(NaiveDate, i64)> {
    let most = most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
    let mut all = Vec::new();
    for date in dates.take(most) {
        let due = left.map_or(amount, |left| left.min(amount));
        if due <= 0 {
            break;
        }
        left = left.map(|left| left.saturating_sub(due));
        all.push((date, due));
    }
    all
}

/// Returns the first date that counts: `start_date`, or tomorrow; today with `start_date_charge`.
fn first_date(asked: &ParsedRequest, today: NaiveDate) -> Result<NaiveDate, SandboxRefusal> {
    let wrong = || SandboxRefusal::field("start_date", "invalid", "Start date is invalid");
    let with_charge = asked.query("start_date_charge") == Some("true");
    let date = match asked.query("start_date") {
        Some(text) => text.parse().map_err(|_| wrong())?,
        None if with_charge => today,
        None => today.succ_opt().ok_or_else(wrong)?,
    };
    if with_charge && date != today {
        return Err(wrong());
    }
    Ok(date)
}

/// Checks the rules of a new recurring charge, without those of its method.
fn check(new: &NewRecurringCharge) -> Result<(), SandboxRefusal> {
    let mut problems = rules(new);
    problems.retain(|problem| problem.context != "method");
    SandboxRefusal::fields("", &problems)
}
