//! Plans, saved plans, comparisons and approvals.

pub mod against;
pub mod approval_file;
pub mod approve;
pub mod plan;
pub mod plan_approval;
