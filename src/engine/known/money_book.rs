//! The money that existing objects collect: what the newest payments brought lately, and what is due
//! from today on, by currency and mode.
//!
//! The book counts a resource again only after its step was planned again, and all of them on a new
//! day. It counts nothing before it is first asked, and a bounded number of resources at a time, so
//! that the engine never stops for it.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Datelike, Months, NaiveDate, TimeDelta, Utc};

use crate::base::id::{Key, Mode};
use crate::base::money::Currency;
use crate::engine::protocol::pages::{MoneyOutlook, MonthSum, OutlookRow};
use crate::model::state::health::PaymentResult;
use crate::model::state::observed::Observed;
use crate::plan::planner::Planner;
use crate::plan::state_view::StateView;

/// Resources counted for one question, at most.
const COUNTED_MAX: usize = 2_000;
/// Days of the sums of the near past and the near future.
const NEAR_DAYS: i64 = 30;
/// Months from today for which money is due.
const MONTHS: u32 = 12;

/// A column of the book.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MoneyColumn {
    /// Newest payments of the last 30 days.
    Collected,
    /// Due in the next 30 days.
    DueSoon,
    /// Due in this month from today on, or in a later one; counted from 0.
    Month(u8),
}

/// Money of one resource.
#[derive(Debug, Clone, PartialEq, Eq)]
struct MoneyPart {
    mode: Mode,
    currency: Currency,
    columns: Box<[(MoneyColumn, i64)]>,
}

#[derive(Debug, Default)]
pub(crate) struct MoneyBook {
    /// The day that the parts are made for; `None` before the first question.
    day: Option<NaiveDate>,
    parts: BTreeMap<Key, MoneyPart>,
    sums: BTreeMap<(Currency, Mode, MoneyColumn), i64>,
    /// Resources to count, or to count again.
    stale: BTreeSet<Key>,
}

impl MoneyBook {
    /// Notes that these resources were planned again.
    pub(crate) fn note<'k>(&mut self, keys: impl IntoIterator<Item = &'k Key>) {
        if self.day.is_some() {
            self.stale.extend(keys.into_iter().cloned());
        }
    }

    /// Counts the next resources that are not up to date.
    pub(crate) fn advance(&mut self, planner: &Planner, world: &dyn StateView) {
        let (now, today) = (world.now(), world.now().date_naive());
        if self.day != Some(today) {
            let known = std::mem::take(&mut self.parts).into_keys();
            *self = Self { day: Some(today), stale: known.collect(), ..Self::default() };
            self.stale.extend(planner.steps().map(|step| step.key.clone()));
        }
        for _ in 0..COUNTED_MAX {
            let Some(key) = self.stale.pop_first() else { return };
            let part = money_part(planner, world, &key, now);
            self.replace(key, part);
        }
    }

    fn replace(&mut self, key: Key, part: Option<MoneyPart>) {
        if let Some(before) = self.parts.remove(&key) {
            self.add(&before, -1);
        }
        if let Some(part) = part {
            self.add(&part, 1);
            self.parts.insert(key, part);
        }
    }

    fn add(&mut self, part: &MoneyPart, sign: i64) {
        for (column, amount) in &part.columns {
            let sum = self.sums.entry((part.currency, part.mode, *column)).or_default();
            *sum = sum.saturating_add(amount.saturating_mul(sign));
        }
    }

    /// Returns the sums as far as they are counted.
    pub(crate) fn outlook(&self, resources: usize) -> MoneyOutlook {
        let mut rows: BTreeMap<(Mode, Currency), OutlookRow> = BTreeMap::new();
        let first = self.day.and_then(|day| day.with_day(1));
        for ((currency, mode, column), amount) in &self.sums {
            let row =
                rows.entry((*mode, *currency)).or_insert_with(|| self.empty_row(*mode, *currency));
            match column {
                MoneyColumn::Collected => row.collected_30_days = *amount,
                MoneyColumn::DueSoon => row.due_30_days = *amount,
                MoneyColumn::Month(number) => {
                    row.due_12_months = row.due_12_months.saturating_add(*amount);
                    let month = first.and_then(|first| month_text(first, *number));
                    let sum = row.months.iter_mut().find(|sum| Some(&sum.month) == month.as_ref());
                    if let Some(sum) = sum {
                        sum.amount = *amount;
                    }
                }
            }
        }
        let counted = resources.saturating_sub(self.stale.len());
        let counted = if self.day.is_none() { 0 } else { counted };
        MoneyOutlook { rows: rows.into_values().collect(), counted, resources }
    }

    fn empty_row(&self, mode: Mode, currency: Currency) -> OutlookRow {
        let first = self.day.and_then(|day| day.with_day(1));
        let months = (0..=MONTHS).filter_map(|number| u8::try_from(number).ok());
        let months = months.filter_map(|number| month_text(first?, number));
        let months = months.map(|month| MonthSum { month, amount: 0 }).collect();
        let (collected_30_days, due_30_days, due_12_months) = (0, 0, 0);
        let currency = currency.to_string();
        OutlookRow { currency, mode, collected_30_days, due_30_days, due_12_months, months }
    }
}

/// Returns a month as `2030-01`, counted from the month of a day.
fn month_text(first: NaiveDate, number: u8) -> Option<String> {
    let month = first.checked_add_months(Months::new(u32::from(number)))?;
    Some(month.format("%Y-%m").to_string())
}

/// Returns the money of a resource; `None` if its object collects none.
fn money_part(
    planner: &Planner,
    world: &dyn StateView,
    key: &Key,
    now: DateTime<Utc>,
) -> Option<MoneyPart> {
    let known = world.observed(key).filter(|known| known.exists)?;
    let (mode, dues) = planner.expected_payments(world, key, &known)?;
    let today = now.date_naive();
    let soon = today.checked_add_signed(TimeDelta::days(NEAR_DAYS))?;
    let end = today.checked_add_months(Months::new(MONTHS))?;
    let collected = recent_payment(&known, now);
    let currency = dues.first().map(|(_, money)| money.currency());
    let currency = currency.or_else(|| known.text("currency")?.parse().ok())?;
    let mut columns: BTreeMap<MoneyColumn, i64> = BTreeMap::new();
    let mut add = |column, amount: i64| {
        let sum = columns.entry(column).or_default();
        *sum = sum.saturating_add(amount);
    };
    for (date, money) in dues.iter().filter(|(date, _)| *date >= today && *date < end) {
        if *date < soon {
            add(MoneyColumn::DueSoon, money.minor());
        }
        if let Some(number) = months_between(today, *date) {
            add(MoneyColumn::Month(number), money.minor());
        }
    }
    if collected != 0 {
        add(MoneyColumn::Collected, collected);
    }
    let columns: Box<[_]> = columns.into_iter().collect();
    (!columns.is_empty()).then_some(MoneyPart { mode, currency, columns })
}

/// Returns the amount of the newest payment, if it was made in the last 30 days and kept.
fn recent_payment(known: &Observed, now: DateTime<Utc>) -> i64 {
    let last = known.payments.as_deref().map(|payments| &payments.last);
    let recent =
        last.filter(|last| now.signed_duration_since(last.at) <= TimeDelta::days(NEAR_DAYS));
    let paid = recent.filter(|last| last.result == PaymentResult::Paid);
    paid.and_then(|last| last.amount).unwrap_or_default()
}

fn months_between(from: NaiveDate, to: NaiveDate) -> Option<u8> {
    let month = |date: NaiveDate| {
        date.year().checked_mul(12)?.checked_add(i32::try_from(date.month0()).ok()?)
    };
    u8::try_from(month(to)?.checked_sub(month(from)?)?).ok()
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use serde_json::json;

    use super::*;
    use crate::engine::tests::fixture::StateFixture;
    use crate::engine::tests::records::{card, key, recurring_charge};

    fn row(fixture: &StateFixture, book: &mut MoneyBook) -> Option<OutlookRow> {
        book.advance(&fixture.planner, &fixture.known_state);
        book.outlook(fixture.planner.count()).rows.pop()
    }

    fn rent() -> StateFixture {
        let documents = [card("card"), recurring_charge("rent", "card")];
        let mut fixture = StateFixture::with_documents(&documents.each_ref().map(String::as_str));
        fixture.apply("RecurringCharge/rent", "rc_1", json!({"currency": "USD"}));
        fixture
    }

    #[test]
    fn money_is_due_for_objects_that_exist_and_a_year_is_the_sum_of_its_months() {
        let fixture = rent();
        let mut book = MoneyBook::default();
        assert_eq!(book.outlook(3).counted, 0, "nothing is counted before the first question");
        let row = row(&fixture, &mut book).unwrap();
        assert_eq!((row.currency.as_str(), row.mode), ("USD", Mode::Test));
        assert!(row.due_12_months > 0 && row.due_12_months >= row.due_30_days, "{row:?}");
        let months: i64 = row.months.iter().map(|month| month.amount).sum();
        assert_eq!((row.months.len(), months), (13, row.due_12_months));
        let outlook = book.outlook(fixture.planner.count());
        assert_eq!(outlook.counted, outlook.resources);
    }

    #[test]
    fn a_resource_counts_once_and_again_only_after_it_was_planned_again() {
        let mut fixture = rent();
        let mut book = MoneyBook::default();
        let before = row(&fixture, &mut book).unwrap();
        book.note([&key("RecurringCharge/rent")]);
        assert_eq!(row(&fixture, &mut book), Some(before));
        fixture.apply(
            "RecurringCharge/rent",
            "rc_1",
            json!({"currency": "USD", "ended": "2030-01-01"}),
        );
        book.note([&key("RecurringCharge/rent")]);
        assert_eq!(row(&fixture, &mut book).map(|row| row.due_12_months), Some(0));
        fixture.pass(TimeDelta::days(1));
        assert_eq!(row(&fixture, &mut book), None, "a new day begins a new book");
    }
}
