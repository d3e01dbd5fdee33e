//! Money that is due by month, before a step and after it.

use std::collections::BTreeMap;

use chrono::{Datelike, Months, NaiveDate};
use serde_json::Value;

use crate::base::money::{Currency, Money};
use crate::kinds::planning::step::{merchant_of, mode_of};
use crate::kinds::register;
use crate::kinds::register::KindRow;
use crate::model::manifest::Manifest;
use crate::model::plans::change::{MonthlyDue, PlannedAction};
use crate::model::plans::plan::Step;
use crate::model::state::observed::AppliedSpec;
use crate::plan::planner::{KindView, Planner};
use crate::plan::state_view::StateView;

/// Months that are compared, from the first one on.
const MONTHS: u32 = 12;

impl Planner {
    /// Returns the months whose dues a step changes.
    pub fn dues(&self, world: &dyn StateView, step: &Step) -> Vec<MonthlyDue> {
        let manifest = world.desired().manifest(&step.key);
        let known = world.observed(&step.key).filter(|known| known.exists);
        let now = manifest.as_ref().map(|manifest| &manifest.spec);
        let after = match step.action {
            PlannedAction::Create | PlannedAction::Update => now,
            PlannedAction::Wait if !step.money.is_empty() => now,
            PlannedAction::Delete => None,
            PlannedAction::Wait
            | PlannedAction::Settled
            | PlannedAction::Read
            | PlannedAction::Orphan
            | PlannedAction::Blocked => return Vec::new(),
        };
        let owner = || known.as_ref().map(|known| known.merchant.clone());
        let merchant = manifest.as_ref().and_then(merchant_of).or_else(owner);
        let mode =
            merchant.and_then(|merchant| mode_of(&KindView { world, planner: self }, &merchant));
        let (Some(row), Some(mode)) = (register::find(step.key.kind.as_str()), mode) else {
            return Vec::new();
        };
        let today = world.now().date_naive();
        let known = known.as_ref().filter(|known| known.text("ended").is_none());
        let applied = known.and_then(|known| known.applied.as_ref());
        let before = dues_from(row, applied.map(|applied| &applied.spec), today);
        let mut after = dues_from(row, after, today);
        if manifest.is_some_and(|new| is_kept_beside(&new, applied)) {
            after.extend_from_slice(&before);
        }
        let months = dues_by_month(&before, &after);
        let changed = months.into_iter().filter(|(_, (before, after))| before != after);
        let due = changed.map(|((month, currency), (before, after))| MonthlyDue {
            month,
            currency,
            mode,
            before,
            after,
        });
        due.collect()
    }
}

/// Returns whether the old object stays unchanged beside a new one: its document raised
/// `reckon.dev/generation`.
fn is_kept_beside(new: &Manifest, applied: Option<&AppliedSpec>) -> bool {
    applied.is_some_and(|applied| applied.generation < new.annotations.generation)
}

/// Returns the money of a spec that is due from a day on.
fn dues_from(row: &KindRow, spec: Option<&Value>, today: NaiveDate) -> Vec<(NaiveDate, Money)> {
    spec.map(|spec| (row.due_payments)(spec, today)).unwrap_or_default()
}

/// Sums both by month and currency, over the months for which both are known.
fn dues_by_month(
    before: &[(NaiveDate, Money)],
    after: &[(NaiveDate, Money)],
) -> BTreeMap<(NaiveDate, Currency), (i64, i64)> {
    let dates = before.iter().chain(after).map(|(date, _)| *date);
    let end =
        dates.min().map(month_of).and_then(|month| month.checked_add_months(Months::new(MONTHS)));
    let mut months: BTreeMap<(NaiveDate, Currency), (i64, i64)> = BTreeMap::new();
    let within = |date: &NaiveDate| end.is_none_or(|end| *date < end);
    for (date, money) in before.iter().filter(|(date, _)| within(date)) {
        let (sum, _) = months.entry((month_of(*date), money.currency())).or_default();
        *sum = sum.saturating_add(money.minor());
    }
    for (date, money) in after.iter().filter(|(date, _)| within(date)) {
        let (_, sum) = months.entry((month_of(*date), money.currency())).or_default();
        *sum = sum.saturating_add(money.minor());
    }
    months
}

fn month_of(date: NaiveDate) -> NaiveDate {
    date.with_day(1).unwrap_or(date)
}
