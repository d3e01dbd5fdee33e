//! Effects on recurring charges and their occurrences.

pub mod change;
pub mod create;
pub mod end;
pub mod first_charge;
pub mod occurrences;
