//! The planner: desired and observed state to a plan. Pure and incremental.

pub mod assumed_state;
pub mod blocks;
pub mod bookkeeping;
pub mod incremental;
pub mod planner;
pub mod prune_state;
pub mod removal;
pub mod state_view;
pub mod step;
