//! Limits of money and counts, judged for each effect and for the whole plan.

pub mod budget;
pub mod plan_cap;
pub mod rules;
