//! The planner: desired and observed state to a plan. Pure and incremental.

pub mod checks;
pub mod compare;
pub mod core;
pub mod removal;
