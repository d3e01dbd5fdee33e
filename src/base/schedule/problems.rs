//! The faults of a schedule: all of them at once, each with the text to write instead.

use super::{Day, IntervalUnit, Schedule};

const WEEKDAY_MAX: u8 = 7;
const MONTH_DAY_MAX: u8 = 31;

/// One fault of a schedule or its limits.
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
