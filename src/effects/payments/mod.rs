//! Effects that move money at once: charges, captures, refunds, voids.

pub mod charge;
pub mod refund;
pub mod transactions;
