//! Charges, captures, refunds, voids, credits and surcharges.

pub mod captures;
pub mod charges;
pub mod credits;
pub mod gratuities;
pub mod refunds;
pub mod signatures;
pub mod surcharges;
pub mod transaction_effects;
pub mod transactions;
pub mod voids;
