//! Cards, bank accounts, saved methods and one-time tokens.

pub mod expiry;
pub mod payment_methods;
pub mod saved_methods;
pub mod tokens;
