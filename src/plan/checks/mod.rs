//! Reasons that block a step: limits, suspension, epochs, refusals, accounts.

pub mod account_blocked;
pub mod adoption;
pub mod epoch;
pub mod health_changes;
pub mod limit_check;
pub mod refusal;
pub mod suspension;
