//! Amounts due by month, before a plan and after it.

use crate::engine::protocol::queries::due::DueView;
use crate::engine::protocol::queries::views::PlanView;
use crate::render::words::format_amount;

/// One row: consecutive months with equal amounts.
pub(super) struct DueRow {
    /// `2030-01`, or `2030-01 to 2030-12, each month`.
    pub(super) months: String,
    /// Amount due before the plan.
    pub(super) before: String,
    /// Amount due after the plan.
    pub(super) after: String,
    /// `+12.00 USD`.
    pub(super) difference: String,
    /// `test` or `live`.
    pub(super) mode: String,
}

/// Returns the rows of a plan.
pub(super) fn rows(plan: &PlanView) -> Vec<DueRow> {
    plan.due.chunk_by(continues).filter_map(due_row).collect()
}

/// Returns true if a month directly follows another one with equal amounts.
fn continues(one: &DueView, next: &DueView) -> bool {
    let like = |due: &DueView| (due.currency.clone(), due.mode, due.before, due.after);
    like(one) == like(next)
        && month_number(&next.month) == month_number(&one.month).and_then(|one| one.checked_add(1))
}

/// Returns the months since the year 0.
fn month_number(month: &str) -> Option<i32> {
    let (year, month) = month.split_once('-')?;
    year.parse::<i32>().ok()?.checked_mul(12)?.checked_add(month.parse().ok()?)
}

fn due_row(alike: &[DueView]) -> Option<DueRow> {
    let (first, last) = (alike.first()?, alike.last()?);
    let several = format!("{} to {}, each month", first.month, last.month);
    let months = if alike.len() > 1 { several } else { first.month.clone() };
    let money = |amount| format_amount(amount, &first.currency);
    let sign = if first.difference > 0 { "+" } else { "" };
    Some(DueRow {
        months,
        before: money(first.before),
        after: money(first.after),
        difference: format!("{sign}{}", money(first.difference)),
        mode: first.mode.to_string(),
    })
}
