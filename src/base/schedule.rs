//! Due dates of a recurring charge.
//!
//! A schedule is an anchor and a step, never a walk: the n-th period is always calculated from
//! `start`. So the 31st of January, then the 28th of February, is followed by the 31st of March.
//!
//! Guarantees: dates rise strictly and never precede `start` nor pass `end`. A schedule with faults
//! has no dates at all, and names all its faults at once, each with the text to write instead. The
//! same schedule gives the same dates for ever. Time zones are out of scope: a date is a date.
//!
//! The amounts of the occurrences of a recurring charge follow from its limits.

use std::str::FromStr;

use chrono::{Datelike, Days, Months, NaiveDate, Weekday};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::{DeserializeFromStr, SerializeDisplay};

/// Unit of a schedule's step (gateway-api, recur object).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, JsonSchema, derive_more::Display, clap::ValueEnum)]
#[display("{}", self.as_str())]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schemars(rename = "Unit")]
pub enum IntervalUnit {
    /// Calendar days.
    Day,
    /// Weeks, from Monday to Sunday.
    Week,
    /// Calendar months.
    Month,
}

impl IntervalUnit {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "DAY",
            Self::Week => "WEEK",
            Self::Month => "MONTH",
        }
    }
}

/// A weekday or a day of the month, by the schedule's unit. A string on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(SerializeDisplay, DeserializeFromStr, derive_more::Display)]
pub enum Day {
    /// 1 (Monday) to 7 (Sunday), or 1 to 31. [`Schedule::problems`] checks the range.
    Number(u8),
    /// The last day of the month, `LAST`.
    #[display("LAST")]
    Last,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no day; write a number in quotes, such as `\"15\"`, or `LAST`")]
pub struct DayError(String);

impl FromStr for Day {
    type Err = DayError;

    fn from_str(text: &str) -> Result<Self, DayError> {
        if text == "LAST" {
            return Ok(Self::Last);
        }
        let plain = text.starts_with(|c: char| c.is_ascii_digit() && c != '0') || text == "0";
        text.parse()
            .ok()
            .filter(|_| plain)
            .map(Self::Number)
            .ok_or_else(|| DayError(text.to_owned()))
    }
}

/// The schedule of a recurring charge (gateway-api, Recurring charge and recur object). The
/// service's form may hold unknown fields.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Schedule {
    /// First date that may be due, and the anchor of all others.
    pub start: NaiveDate,
    pub interval_unit: IntervalUnit,
    /// The step in units: 1 is every unit, 2 every other; at least 1.
    pub interval_delay: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<NaiveDate>,
    /// Days within each week or month; empty: the weekday, or day of the month, of `start`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub days: Vec<Day>,
}

const DAYS_PER_WEEK: u32 = 7;
const MONTHS_PER_YEAR: i64 = 12;

impl Schedule {
    /// Yields every due date in rising order to `end`. Empty for a schedule with faults. A day that
    /// a month lacks falls on the month's last day; equal ones count once.
    pub fn dates(&self) -> impl Iterator<Item = NaiveDate> + '_ {
        self.dates_of_periods_from(0)
    }

    /// Yields the due dates on or after a date, without a walk from the start.
    pub fn dates_from(&self, from: NaiveDate) -> impl Iterator<Item = NaiveDate> + '_ {
        self.dates_of_periods_from(self.period_of(from)).skip_while(move |date| *date < from)
    }

    /// Returns the first due date on or after a date, without a walk from the start.
    pub fn next_on_or_after(&self, date: NaiveDate) -> Option<NaiveDate> {
        self.dates_from(date).next()
    }

    fn dates_of_periods_from(&self, first: u32) -> impl Iterator<Item = NaiveDate> + '_ {
        let last = self.end.unwrap_or(NaiveDate::MAX);
        let periods = self.faults().is_empty().then_some(first..=u32::MAX);
        periods
            .into_iter()
            .flatten()
            .map_while(|period| self.period(period))
            .flatten()
            .take_while(move |date| *date <= last)
    }

    /// Returns the due dates of one period, from 0; `None` beyond the last representable date.
    fn period(&self, period: u32) -> Option<Vec<NaiveDate>> {
        let steps = period.checked_mul(self.interval_delay)?;
        let mut dates = match self.interval_unit {
            IntervalUnit::Day => vec![add_days(self.start, steps)?],
            IntervalUnit::Week => self.days_of_week(steps.checked_mul(DAYS_PER_WEEK)?)?,
            IntervalUnit::Month => self.days_of_month(Months::new(steps))?,
        };
        dates.retain(|date| *date >= self.start);
        dates.sort_unstable();
        dates.dedup();
        Some(dates)
    }

    fn days_of_week(&self, offset: u32) -> Option<Vec<NaiveDate>> {
        if self.days.is_empty() {
            return Some(vec![add_days(self.start, offset)?]);
        }
        let monday = add_days(monday_of(self.start), offset)?;
        let on = |day: &Day| match day {
            Day::Number(number) => add_days(monday, u32::from(*number).checked_sub(1)?),
            Day::Last => None,
        };
        Some(self.days.iter().filter_map(on).collect())
    }

    fn days_of_month(&self, offset: Months) -> Option<Vec<NaiveDate>> {
        if self.days.is_empty() {
            return Some(vec![self.start.checked_add_months(offset)?]);
        }
        let month = self.start.with_day(1)?.checked_add_months(offset)?;
        let length = month.num_days_in_month();
        let on = |day: &Day| match day {
            Day::Number(number) => month.with_day(u32::from((*number).min(length))),
            Day::Last => month.with_day(u32::from(length)),
        };
        Some(self.days.iter().filter_map(on).collect())
    }

    /// Returns the period of a date, 0 before the start. No later period holds an earlier date.
    fn period_of(&self, date: NaiveDate) -> u32 {
        let days = |from: NaiveDate| date.signed_duration_since(from).num_days();
        let delay = i64::from(self.interval_delay);
        let (units, step) = match self.interval_unit {
            IntervalUnit::Day => (days(self.start), delay),
            IntervalUnit::Week if self.days.is_empty() => (days(self.start), in_days(delay)),
            IntervalUnit::Week => (days(monday_of(self.start)), in_days(delay)),
            IntervalUnit::Month => {
                (month_number(date).saturating_sub(month_number(self.start)), delay)
            }
        };
        units.checked_div(step).and_then(|period| u32::try_from(period).ok()).unwrap_or(0)
    }

    /// Returns every fault of the schedule (gateway-api, recur object); empty when it can be sent.
    pub fn problems(&self) -> Vec<ScheduleProblem> {
        let faults = self.faults();
        if faults.is_empty() && self.dates().next().is_none() {
            return vec![problem(
                "end",
                format!("no payment is due from {} on before it ends", self.start),
                "write a later end, or other days",
            )];
        }
        faults
    }

    /// Returns the faults of single fields; a schedule with one of these has no dates.
    fn faults(&self) -> Vec<ScheduleProblem> {
        let mut faults = Vec::new();
        faults.extend(self.delay_fault());
        if !self.days.is_empty() {
            faults.extend(self.days_misplaced());
            let days = self.days.iter().enumerate();
            faults.extend(days.filter_map(|(item, day)| self.day_fault(item, *day)));
            faults.extend(self.repeated_days());
        }
        faults.extend(self.end_fault());
        faults
    }

    fn delay_fault(&self) -> Option<ScheduleProblem> {
        (self.interval_delay == 0).then(|| {
            let message = format!("a step of 0 × {} never leaves the start", self.interval_unit);
            problem("interval_delay", message, "write 1 for every unit, 2 for every other")
        })
    }

    fn days_misplaced(&self) -> Option<ScheduleProblem> {
        if self.interval_unit == IntervalUnit::Day {
            let message = "days are allowed with the units WEEK and MONTH only".to_owned();
            return Some(problem(
                "days",
                message,
                "leave out days, or write another interval_unit",
            ));
        }
        (self.interval_delay > 1).then(|| {
            let message = format!("days are allowed with every {} only", self.interval_unit);
            problem("days", message, "leave out days, or write `interval_delay: 1`")
        })
    }

    fn day_fault(&self, item: usize, day: Day) -> Option<ScheduleProblem> {
        let (fits, message, help) = match (self.interval_unit, day) {
            (IntervalUnit::Day, Day::Number(_) | Day::Last) | (IntervalUnit::Month, Day::Last) => {
                return None;
            }
            (IntervalUnit::Week, Day::Number(number)) => (
                (1..=WEEKDAY_MAX).contains(&number),
                format!("a week has no day {number}"),
                "write \"1\" (Monday) to \"7\" (Sunday)",
            ),
            (IntervalUnit::Week, Day::Last) => (
                false,
                "LAST is a day of a month, not of a week".to_owned(),
                "write \"1\" (Monday) to \"7\" (Sunday)",
            ),
            (IntervalUnit::Month, Day::Number(number)) => (
                (1..=MONTH_DAY_MAX).contains(&number),
                format!("a month has no day {number}"),
                "write \"1\" to \"31\", or LAST",
            ),
        };
        (!fits).then(|| ScheduleProblem { item: Some(item), ..problem("days", message, help) })
    }

    fn repeated_days(&self) -> Option<ScheduleProblem> {
        let mut days = self.days.iter().enumerate();
        let (item, day) =
            days.find(|(item, day)| self.days.iter().take(*item).any(|before| before == *day))?;
        let message = format!("the day {day} is written twice");
        Some(ScheduleProblem {
            item: Some(item),
            ..problem("days", message, "write each day once")
        })
    }

    fn end_fault(&self) -> Option<ScheduleProblem> {
        let end = self.end.filter(|end| *end < self.start)?;
        let message = format!("the end, {end}, is before the start, {}", self.start);
        Some(problem("end", message, "write the start or a later date, or leave it out"))
    }
}

fn in_days(weeks: i64) -> i64 {
    weeks.saturating_mul(i64::from(DAYS_PER_WEEK))
}

fn add_days(date: NaiveDate, days: u32) -> Option<NaiveDate> {
    date.checked_add_days(Days::new(u64::from(days)))
}

/// Returns the Monday of a date's week; the date itself in the first representable week.
fn monday_of(date: NaiveDate) -> NaiveDate {
    date.week(Weekday::Mon).checked_first_day().unwrap_or(date)
}

fn month_number(date: NaiveDate) -> i64 {
    i64::from(date.year()).saturating_mul(MONTHS_PER_YEAR).saturating_add(i64::from(date.month0()))
}

const WEEKDAY_MAX: u8 = 7;
const MONTH_DAY_MAX: u8 = 31;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleProblem {
    /// The faulty field by its wire name.
    pub field: &'static str,
    /// The faulty item of `days`, from 0.
    pub item: Option<usize>,
    pub message: String,
    pub help: String,
}

fn problem(field: &'static str, message: String, help: &str) -> ScheduleProblem {
    ScheduleProblem { field, item: None, message, help: help.to_owned() }
}

/// The limits of a recurring charge (gateway-api, recur object).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RecurrenceLimits {
    /// Payments after which the charge is complete; a retry of an occurrence counts once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_occurrences: Option<u32>,
    /// Minor units to collect before the charge is complete; at least the amount of one occurrence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_amount: Option<i64>,
}

/// Yields the due dates and the amount of each, in minor units: `amount`, and last the lesser of
/// `amount` and the rest below `max_amount`. Empty for an amount of zero or less.
pub fn occurrences(
    schedule: &Schedule,
    amount: i64,
    limits: RecurrenceLimits,
) -> impl Iterator<Item = (NaiveDate, i64)> + '_ {
    let RecurrenceLimits { max_occurrences, max_amount } = limits;
    let count = max_occurrences.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
    schedule.dates().take(count).scan(max_amount, move |left, date| {
        let due = left.map_or(amount, |left| left.min(amount));
        *left = left.map(|left| left.saturating_sub(due));
        (due > 0).then_some((date, due))
    })
}

#[cfg(test)]
mod tests;
