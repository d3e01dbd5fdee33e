//! Recurring charges, their occurrences and their previews (gateway-api, Recurring charges).

pub mod actions;
pub mod charge;
pub mod occurrence;
pub mod preview;
pub mod rules;
