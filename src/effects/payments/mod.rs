//! Effects that move money at once: charges, captures, refunds, voids.

pub mod capture;
pub mod charge;
pub mod charge_recur;
pub mod charge_schedule;
pub mod refund;
pub mod sign;
pub mod surcharge_read;
pub mod transaction_read;
pub mod transactions;
pub mod void;
