//! Cards, bank accounts, saved methods and tokens.

pub mod banks;
pub mod cards;
pub mod expiry;
pub mod payment_methods;
pub mod saved_methods;
pub mod test_numbers;
pub mod tokens;
pub mod vault;
