//! The planner, the step of one resource, their order and totals.

pub mod dues;
pub mod kind_view;
pub mod order;
pub mod planner;
pub mod step;
pub mod totals;
