//! The faults of a schedule: all of them at once, each with the text to write instead.
//!
//! Limits of a recurring charge have faults of the same form; the amounts of its occurrences follow
//! from them.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::{Day, IntervalUnit, Schedule};

const WEEKDAY_MAX: u8 = 7;
const MONTH_DAY_MAX: u8 = 31;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleProblem {
    /// The faulty field by its wire name.
    pub field: &'static str,
    /// The faulty item of `days`, from 0.
    pub item: Option<usize>,
    pub message: String,
    /// The text to write instead.
    pub help: String,
}

impl Schedule {
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
    pub(super) fn faults(&self) -> Vec<ScheduleProblem> {
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

fn problem(field: &'static str, message: String, help: &str) -> ScheduleProblem {
    ScheduleProblem { field, item: None, message, help: help.to_owned() }
}

/// The limits of a recurring charge (gateway-api, recur object).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RecurrenceLimits {
    /// Number of scheduled payments after which the charge is complete; a retry of one occurrence
    /// counts once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_occurrences: Option<u32>,
    /// Minor units to collect before the charge is complete; at least the amount of one occurrence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_amount: Option<i64>,
}

impl RecurrenceLimits {
    /// Returns the faults of these limits for occurrences of `amount` minor units; empty without
    /// faults.
    pub fn problems(&self, amount: i64) -> Vec<ScheduleProblem> {
        let Self { max_occurrences, max_amount } = *self;
        let occurrences = max_occurrences.filter(|most| *most == 0).map(|_| ScheduleProblem {
            item: None,
            field: "max_occurrences",
            message: "no payment is allowed".to_owned(),
            help: "write 1 or more, or leave it out".to_owned(),
        });
        let total = max_amount.filter(|most| *most < amount).map(|most| ScheduleProblem {
            item: None,
            field: "max_amount",
            message: format!("the total, {most}, is less than one payment, {amount}"),
            help: format!("write {amount} or more, or leave it out"),
        });
        occurrences.into_iter().chain(total).collect()
    }
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
