//! Orders of people: suspensions, approvals, selections, keys.

pub mod action;
pub mod live_binding;
pub mod plan_approval;
pub mod plan_use;
pub mod remote_get;
pub mod rotation;
pub mod selection;
pub mod suspension;
pub mod token_attachment;
