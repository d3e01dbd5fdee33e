//! Due dates and amounts of a recurring charge.
//!
//! A schedule is an anchor and a step, never a walk: the n-th period is always calculated from
//! `start`. So the 31st of January, then the 28th of February, is followed by the 31st of March.
//!
//! Guarantees: dates rise strictly and never precede `start` nor pass `end`. A schedule with faults
//! has no dates at all. The same schedule gives the same dates for ever. Time zones are out of
//! scope: a date is a date.

use std::fmt;
use std::str::FromStr;

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod dates;
pub mod problems;

/// Unit of a schedule's step (gateway-api, recur object).
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
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
    /// Returns the unit's word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "DAY",
            Self::Week => "WEEK",
            Self::Month => "MONTH",
        }
    }
}

impl fmt::Display for IntervalUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One of a schedule's `days`: a weekday or a day of the month, by the schedule's unit. A string on
/// the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Day {
    /// 1 (Monday) to 7 (Sunday) in a week; 1 to 31 in a month. [`Schedule::problems`] checks its
    /// range.
    Number(u8),
    /// The last day of the month, `LAST`.
    Last,
}

/// Error for a text that is no [`Day`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no day; write a number in quotes, such as `\"15\"`, or `LAST`")]
pub struct DayError(String);

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Last => f.pad("LAST"),
        }
    }
}

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

impl TryFrom<String> for Day {
    type Error = DayError;

    fn try_from(text: String) -> Result<Self, DayError> {
        text.parse()
    }
}

impl From<Day> for String {
    fn from(day: Day) -> Self {
        day.to_string()
    }
}

/// The schedule of a recurring charge (gateway-api, Recurring charge and recur object). The
/// service's form may hold unknown fields; a person's input is checked field by field before it
/// becomes a schedule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Schedule {
    /// First date that may be due, and the anchor of all others.
    pub start: NaiveDate,
    /// Unit of the step.
    pub interval_unit: IntervalUnit,
    /// The step in units: 1 is every unit, 2 every other; at least 1.
    pub interval_delay: u32,
    /// Last date that may be due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<NaiveDate>,
    /// Days within each week or month; empty: the weekday, or day of the month, of `start`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub days: Vec<Day>,
}

#[cfg(test)]
mod tests;
