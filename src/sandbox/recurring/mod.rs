//! Recurring charges and their occurrences.

pub mod change;
pub mod charge_state;
pub mod occurrence_routes;
pub mod occurrence_state;
pub mod occurrences;
pub mod recurring_charges;
pub mod start;
