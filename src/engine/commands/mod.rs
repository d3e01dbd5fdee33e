//! Changes that a person requests, one file for each command.

pub mod action;
pub mod action_fields;
pub mod action_ready;
pub mod action_removal;
pub mod action_view;
pub mod approve;
pub mod attach;
pub mod bookkeeping;
pub mod dismiss;
pub mod follow_up;
pub mod forget;
pub mod import;
pub mod import_ready;
pub mod intake;
pub mod page_link;
pub mod plan_approval;
pub mod remote_get;
pub mod resolve;
pub mod rotate;
pub mod saved_plan;
pub mod saved_plan_stale;
pub mod saved_plan_use;
pub mod signed_approval;
pub mod suspend;
