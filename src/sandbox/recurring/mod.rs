//! Recurring charges and their occurrences.

pub mod change;
pub mod occurrences;
pub mod recurring_charges;
pub mod state;
