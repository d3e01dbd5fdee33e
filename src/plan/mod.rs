//! The planner: desired and observed state to a plan. Pure and incremental.

pub mod assumed_state;
pub mod blocks;
pub mod bookkeeping;
pub mod dues;
pub mod order;
pub mod planner;
pub mod prune_state;
pub mod recheck;
pub mod refusal;
pub mod removal;
pub mod state_view;
pub mod step;
pub mod totals;
