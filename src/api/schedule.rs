//! Schedules of recurring payments, the one that a charge starts, and the preview of a recurring
//! charge (gateway-api, recur object, GET /v1/recurring/charges/schedule).

use chrono::NaiveDate;

use crate::api::call::ParameterType::{Date, Flag, Integer};
use crate::api::call::{Parameter, endpoints, objects};
use crate::api::rules::{AMOUNT_MAX, FieldProblem, FieldProblems};

objects! {
    /// Due dates of occurrences.
    #[schemars(rename = "Schedule")]
    pub struct RecurringSchedule {
        /// `DAY`, `WEEK` or `MONTH`.
        #[schemars(extend("enum" = ["DAY", "WEEK", "MONTH"]))]
        pub interval_unit: Option<String>,
        /// Number of units between two payments.
        #[schemars(range(min = 1, max = 1000))]
        pub interval_delay: Option<i64>,
        /// First date that may be due.
        pub start: Option<NaiveDate>,
        /// Last date that may be due.
        pub end: Option<NaiveDate>,
        /// `"1"` to `"7"` in weeks, days of the month or `LAST` in months; interval 1 only.
        #[schemars(inner(regex(pattern = r"^([1-9]|[12][0-9]|3[01]|LAST)$")))]
        pub days: Option<Vec<String>>,
    }

    /// The schedule that a charge starts.
    #[schemars(extend("required" = ["interval_unit", "interval_delay"]))]
    pub struct Recur {
        /// A free text.
        pub description: Option<String>,
        /// Minor units, where it differs from the charge's.
        #[schemars(range(min = 1, max = AMOUNT_MAX))]
        pub amount: Option<i64>,
        /// `DAY`, `WEEK` or `MONTH`.
        #[schemars(extend("enum" = ["DAY", "WEEK", "MONTH"]))]
        pub interval_unit: Option<String>,
        /// Number of units between two payments.
        #[schemars(range(min = 1, max = 1000))]
        pub interval_delay: Option<i64>,
        /// Last date that may be due.
        pub end: Option<NaiveDate>,
        /// Days, as in a schedule.
        #[schemars(inner(regex(pattern = r"^([1-9]|[12][0-9]|3[01]|LAST)$")))]
        pub days: Option<Vec<String>>,
        /// Number of scheduled payments until the recurring charge is complete.
        #[schemars(range(min = 1))]
        pub max_occurrences: Option<i64>,
        /// Minor units to collect until the recurring charge is complete.
        #[schemars(range(min = 1, max = AMOUNT_MAX))]
        pub max_amount: Option<i64>,
    }

    /// Input of a preview; sent as the body of a GET.
    #[schemars(extend("required" = ["amount", "schedule"]))]
    pub struct PreviewRequest {
        /// Minor units of each occurrence.
        #[schemars(range(min = 1, max = AMOUNT_MAX))]
        pub amount: Option<i64>,
        /// Maximum number of payments.
        #[schemars(range(min = 1))]
        pub max_occurrences: Option<i64>,
        /// Maximum amount to collect, minor units.
        #[schemars(range(min = 1, max = AMOUNT_MAX))]
        pub max_amount: Option<i64>,
        /// Schedule of the payments.
        #[schemars(extend("required" = ["interval_unit", "interval_delay"]))]
        pub schedule: Option<RecurringSchedule>,
    }

    /// The predicted course of a recurring charge.
    pub struct Preview {
        /// Minor units of each occurrence.
        pub amount: i64,
        /// Maximum number of payments, as requested.
        pub max_occurrences: Option<i64>,
        /// Maximum amount to collect, as requested, minor units.
        pub max_amount: Option<i64>,
        /// Payments so far: none.
        pub total_occurrences: i64,
        /// Minor units collected so far: none.
        pub total_amount: i64,
        /// Payments to come, where they end.
        pub remaining_occurrences: Option<i64>,
        /// Minor units to come, where they end.
        pub remaining_amount: Option<i64>,
        /// Schedule of the payments.
        pub schedule: Option<RecurringSchedule>,
        /// Date of the first payment.
        pub next_payment: Option<NaiveDate>,
        /// The first payments.
        pub occurrences: Vec<PreviewOccurrence>,
    }

    /// One payment of a preview.
    pub struct PreviewOccurrence {
        /// Minor units.
        pub amount: i64,
        /// Date on which the payment is due.
        pub due_date: Option<NaiveDate>,
    }
}

/// Returns every problem of the schedule that a charge of this amount starts; its fields are below
/// `recur`.
pub fn recur_rules(recur: &Recur, charged: Option<i64>) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    problems.amount("amount", "Amount", recur.amount.unwrap_or(1), 1);
    let schedule = RecurringSchedule {
        interval_unit: recur.interval_unit.clone(),
        interval_delay: recur.interval_delay,
        start: None,
        end: recur.end,
        days: recur.days.clone(),
    };
    schedule_rules(&mut problems, &schedule, true);
    let amount = recur.amount.or(charged);
    limit_rules(&mut problems, amount, recur.max_occurrences, recur.max_amount);
    let mut problems = problems.into_list();
    problems.retain(|problem| problem.context != "schedule.start");
    for problem in &mut problems {
        let field = problem.context.trim_start_matches("schedule.");
        problem.context = format!("recur.{field}");
    }
    problems
}

/// Checks a schedule (gateway-api, recur object; service-facts, 58, 65).
pub fn schedule_rules(problems: &mut FieldProblems, schedule: &RecurringSchedule, whole: bool) {
    let (unit, delay) = (schedule.interval_unit.as_deref(), schedule.interval_delay);
    let is_unit = unit.is_none_or(|unit| matches!(unit, "DAY" | "WEEK" | "MONTH"));
    problems.require("schedule.interval_unit", "Interval unit", unit.is_some() || !whole);
    problems.unless(is_unit, "schedule.interval_unit", "invalid", "Interval unit is invalid");
    let (field, text) = ("schedule.interval_delay", "Interval delay is invalid");
    let fits = delay.is_none_or(|delay| (1..=1000).contains(&delay));
    problems.require(field, "Interval delay", delay.is_some() || !whole);
    problems.unless(fits, field, "number_out_of_range", text);
    problems.require("schedule.start", "Start date", schedule.start.is_some() || !whole);
    let is_ordered = schedule.start.zip(schedule.end).is_none_or(|(start, end)| start <= end);
    problems.unless(is_ordered, "schedule.end", "invalid", "End date is invalid");
    day_rules(problems, schedule, unit);
}

fn day_rules(problems: &mut FieldProblems, schedule: &RecurringSchedule, unit: Option<&str>) {
    let Some(days) = schedule.days.as_deref().filter(|days| !days.is_empty()) else { return };
    let interval_is_one = schedule.interval_delay.is_none_or(|delay| delay == 1);
    let known = |day: &String| match (unit, day.parse::<u32>()) {
        (Some("WEEK"), Ok(number)) => (1..=7).contains(&number),
        (Some("MONTH") | None, Ok(number)) => (1..=31).contains(&number),
        (Some("MONTH") | None, Err(_)) => day == "LAST",
        (Some(_), _) => false,
    };
    let fits = interval_is_one && days.iter().all(known);
    problems.unless(fits, "schedule.days", "invalid", "Days are invalid");
}

pub(crate) fn limit_rules(
    problems: &mut FieldProblems,
    amount: Option<i64>,
    count: Option<i64>,
    sum: Option<i64>,
) {
    let text = "Max occurrences is less than the minimum value";
    let fits = count.is_none_or(|count| count >= 1);
    problems.unless(fits, "max_occurrences", "below_minimum_value", text);
    if let Some(sum) = sum {
        problems.amount("max_amount", "Max amount", sum, amount.unwrap_or(1).max(1));
    }
}

/// Maximum occurrences in a preview (gateway-api, Limits).
pub const PREVIEW_OCCURRENCES_MAX: u64 = 100;
/// Occurrences in a preview by default.
pub const PREVIEW_OCCURRENCES_DEFAULT: u64 = 10;

const OCCURRENCES: Parameter = Parameter::new(
    "occurrences",
    Integer(1, PREVIEW_OCCURRENCES_MAX),
    "number of payments shown; 10 by default",
);
const START: Parameter = Parameter::new("start_date", Date, "the first date; tomorrow by default");
const WITH_CHARGE: Parameter = Parameter::new(
    "start_date_charge",
    Flag,
    "true: a charge of today starts the schedule; `start_date` is then today or left out",
);

endpoints! {
    /// Shows the predicted course of a recurring charge.
    PreviewSchedule "recurring.preview": Get Base "/v1/recurring/charges/schedule" by SecretKey,
        PreviewRequest => Preview, [OCCURRENCES, START, WITH_CHARGE];
}
