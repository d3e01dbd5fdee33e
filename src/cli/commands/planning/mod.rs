//! Plans, saved plans, comparisons, approvals, and their application.

pub mod apply;
pub mod apply_options;
pub mod apply_report;
pub mod approve;
pub mod plan;
pub mod plan_approval;
