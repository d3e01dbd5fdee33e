//! Applies a plan: made now, saved before, or for removals alone.

pub mod apply;
pub mod apply_report;
pub mod prune;
pub mod server_apply;
pub mod stale_plan;
