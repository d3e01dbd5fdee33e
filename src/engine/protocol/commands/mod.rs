//! Commands as values: what people and programs request, and the results.

pub mod action;
pub mod action_view;
pub mod approve;
pub mod attach;
pub mod bookkeeping;
pub mod command;
pub mod intake;
pub mod page_link;
pub mod plan_approval;
pub mod resolve;
pub mod saved_plan;
pub mod saved_plan_stale;
pub mod saved_plan_use;
pub mod signed_approval;
