//! Field rules of recurring charges and schedules.

use super::actions::NewClone;
use super::charge::{NewRecurringCharge, RecurringChange};
use crate::api::payments::schedule::{limit_rules, schedule_rules};
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
