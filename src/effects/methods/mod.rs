//! Effects on saved payment methods and their tokens.

pub mod change;
pub mod method;
pub mod save;
