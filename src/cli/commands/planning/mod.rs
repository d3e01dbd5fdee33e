//! Plans, saved plans, comparisons and approvals.

pub mod against;
pub mod approve;
pub mod approve_submission;
pub mod plan;
pub mod plan_approval;
pub mod plan_file;
