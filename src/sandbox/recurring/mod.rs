//! Recurring charges and their occurrences.

pub mod change;
pub mod end;
pub mod occurrence_routes;
pub mod occurrences;
pub mod payment_delay;
pub mod preview;
pub mod recurring_charges;
pub mod start;
