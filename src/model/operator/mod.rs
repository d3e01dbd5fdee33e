//! Orders of people: suspensions, approvals, selections, keys.

pub mod approval;
pub mod rotation;
pub mod suspension;
pub mod token_attachment;
