//! Decides about the changes that people and programs request, one file for each command.

pub mod acknowledge;
pub mod actions;
pub mod approvals;
pub mod bookkeeping;
pub mod command;
pub mod decision;
pub mod forget;
pub mod import;
pub mod import_ready;
pub mod inventory;
pub mod payers;
pub mod release;
pub mod remote_get;
pub mod resolve;
pub mod rotate;
pub mod suspend;
