//! A schedule as people write it: each field is read by itself, so that one run tells all that is wrong.

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::schedule::{Day, Schedule, Unit};
use crate::kinds::whole::Whole;
use crate::model::issue::Issue;

/// When payments are due (gateway-api, recur object). The canonical form is the one on the wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleSpec {
    /// The first date that may be due, `YYYY-MM-DD`.
    pub start: String,
    /// The unit of the step.
    pub interval_unit: Unit,
    /// The step in units.
    pub interval_delay: Whole,
    /// The last date that may be due, `YYYY-MM-DD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// Days within each week or month.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub days: Vec<String>,
}

impl ScheduleSpec {
    /// The schedule. Errors: every date and day that cannot be read, with its path.
    pub fn read(&self) -> Result<Schedule, Vec<Issue>> {
        let Self { start, interval_unit, interval_delay, end, days } = self;
        let mut issues = Vec::new();
        let start = keep(date("spec.schedule.start", start), &mut issues);
        let end = end.as_deref().map(|end| keep(date("spec.schedule.end", end), &mut issues));
        let days = days.iter().enumerate().map(|(index, text)| keep(day(index, text), &mut issues));
        let days: Vec<Day> = days.flatten().collect();
        match start {
            Some(start) if issues.is_empty() => Ok(Schedule {
                start,
                interval_unit: *interval_unit,
                interval_delay: interval_delay.0,
                end: end.flatten(),
                days,
            }),
            Some(_) | None => Err(issues),
        }
    }

    /// Everything wrong with it.
    pub(super) fn issues(&self) -> Vec<Issue> {
        let schedule = match self.read() {
            Ok(schedule) => schedule,
            Err(issues) => return issues,
        };
        let issues = schedule.problems().into_iter().map(|problem| {
            let path = format!("spec.schedule.{}", problem.field);
            Issue::error("reckon::recurring_charge::schedule", &path, problem.message, problem.help)
        });
        issues.collect()
    }
}

fn keep<T>(read: Result<T, Issue>, issues: &mut Vec<Issue>) -> Option<T> {
    read.map_err(|issue| issues.push(issue)).ok()
}

fn date(path: &str, text: &str) -> Result<NaiveDate, Issue> {
    let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().filter(|_| text.len() == 10);
    date.ok_or_else(|| {
        let message = format!("`{text}` is no date");
        let help = "write year, month and day, such as `2026-12-01`";
        Issue::error("reckon::recurring_charge::date", path, message, help)
    })
}

fn day(index: usize, text: &str) -> Result<Day, Issue> {
    text.parse().map_err(|_| {
        let path = format!("spec.schedule.days[{index}]");
        let message = format!("`{text}` is no day");
        let help = "write a number such as `\"15\"`, or `LAST`";
        Issue::error("reckon::recurring_charge::day", &path, message, help)
    })
}
