//! Decides about the changes that people and programs request, one file for each subject.

pub mod action;
pub mod action_fields;
pub mod action_ready;
pub mod action_removal;
pub mod approvals;
pub mod attach;
pub mod decision;
pub mod forget;
pub mod import;
pub mod import_ready;
pub mod intake;
pub mod inventory;
pub mod links;
pub mod operator;
pub mod remote_get;
pub mod replay;
pub mod resolve;
pub mod saved_plan;
