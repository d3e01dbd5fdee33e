//! Limits of a recurring charge besides its schedule, and the amount of each occurrence.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::{Schedule, ScheduleProblem};

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
