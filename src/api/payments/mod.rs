//! Charges, refunds, captures and surcharges (gateway-api, Transactions).

pub mod actions;
pub mod schedule;
pub mod signature;
pub mod surcharge;
pub mod transaction;
