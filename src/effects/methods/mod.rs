//! Effects on saved payment methods and their tokens.

pub mod change;
pub mod delete;
pub mod method;
pub mod save;
pub mod token_create;
pub mod vault_save;
