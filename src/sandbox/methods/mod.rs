//! Cards, bank accounts, saved methods and one-time tokens.

pub mod payment_methods;
pub mod saved_methods;
pub mod tokens;
