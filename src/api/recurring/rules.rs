//! Field rules of recurring charges and schedules.

use super::actions::NewClone;
use super::charge::{NewRecurringCharge, Recur, RecurringChange, RecurringSchedule};
use crate::api::rules::{FieldProblem, FieldProblems};

/// Returns every problem of a new recurring charge's fields, but for an inline method's own.
pub fn rules(new: &NewRecurringCharge) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    problems.require_amount("amount", "Amount", new.amount);
    if new.method.is_none() {
        problems.add("method", "not_null", "Payment method cannot be blank");
    }
    match &new.schedule {
        None => problems.add("schedule", "not_null", "Schedule cannot be blank"),
        Some(schedule) => schedule_rules(&mut problems, schedule, true),
    }
    limit_rules(&mut problems, new.amount, new.max_occurrences, new.max_amount);
    problems.into_list()
}

/// Returns every problem of a change's fields, but for a method's own.
pub fn change_rules(change: &RecurringChange) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    if let Some(amount) = change.amount {
        problems.amount("amount", "Amount", amount, 1);
    }
    if let Some(schedule) = &change.schedule {
        schedule_rules(&mut problems, schedule, false);
    }
    limit_rules(&mut problems, change.amount, change.max_occurrences, change.max_amount);
    problems.into_list()
}

/// Returns every problem of the fields of a recurring charge made from an earlier charge.
pub fn clone_rules(new: &NewClone) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    problems.require_amount("amount", "Amount", new.amount);
    match &new.schedule {
        None => problems.add("schedule", "not_null", "Schedule cannot be blank"),
        Some(schedule) => schedule_rules(&mut problems, schedule, true),
    }
    problems.into_list()
}

/// Returns every problem of the schedule that a charge of this amount starts; its fields are below
/// `recur`.
pub fn recur_rules(recur: &Recur, charged: Option<i64>) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    if let Some(amount) = recur.amount {
        problems.amount("amount", "Amount", amount, 1);
    }
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
    let unit = schedule.interval_unit.as_deref();
    match unit {
        Some("DAY" | "WEEK" | "MONTH") => {}
        Some(_) => problems.add("schedule.interval_unit", "invalid", "Interval unit is invalid"),
        None if whole => {
            problems.add("schedule.interval_unit", "not_null", "Interval unit cannot be blank");
        }
        None => {}
    }
    match schedule.interval_delay {
        Some(delay) if !(1..=1000).contains(&delay) => {
            problems.add(
                "schedule.interval_delay",
                "number_out_of_range",
                "Interval delay is invalid",
            );
        }
        None if whole => {
            problems.add("schedule.interval_delay", "not_null", "Interval delay cannot be blank");
        }
        Some(_) | None => {}
    }
    if whole && schedule.start.is_none() {
        problems.add("schedule.start", "not_null", "Start date cannot be blank");
    }
    if let (Some(start), Some(end)) = (schedule.start, schedule.end)
        && end < start
    {
        problems.add("schedule.end", "invalid", "End date is invalid");
    }
    day_rules(problems, schedule, unit);
}

fn day_rules(problems: &mut FieldProblems, schedule: &RecurringSchedule, unit: Option<&str>) {
    let Some(days) = schedule.days.as_deref().filter(|days| !days.is_empty()) else {
        return;
    };
    let interval_is_one = schedule.interval_delay.is_none_or(|delay| delay == 1);
    let known = |day: &String| match (unit, day.parse::<u32>()) {
        (Some("WEEK"), Ok(number)) => (1..=7).contains(&number),
        (Some("MONTH") | None, Ok(number)) => (1..=31).contains(&number),
        (Some("MONTH") | None, Err(_)) => day == "LAST",
        (Some(_), _) => false,
    };
    if !interval_is_one || !days.iter().all(known) {
        problems.add("schedule.days", "invalid", "Days are invalid");
    }
}

fn limit_rules(
    problems: &mut FieldProblems,
    amount: Option<i64>,
    count: Option<i64>,
    sum: Option<i64>,
) {
    if count.is_some_and(|count| count < 1) {
        problems.add(
            "max_occurrences",
            "below_minimum_value",
            "Max occurrences is less than the minimum value",
        );
    }
    if let Some(sum) = sum {
        problems.amount("max_amount", "Max amount", sum, amount.unwrap_or(1).max(1));
    }
}
