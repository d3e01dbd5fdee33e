//! Sealed values, with keys that can be erased.

pub mod frame;
pub mod key;
pub mod keys;
pub mod upkeep;
pub mod values;
pub mod wrapping;
