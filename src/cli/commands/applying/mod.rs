//! Applies a plan: made now, saved before, or for removals alone.

pub mod apply;
pub mod apply_report;
pub mod apply_saved;
pub mod plan_refusal;
pub mod prune;
pub mod stale_plan;
