//! Sealed values, with keys that can be erased.

pub mod blob;
pub mod cipher;
pub mod error;
pub mod frame;
pub mod key;
pub mod key_file;
pub mod keys;
pub mod named;
pub mod state;
pub mod upkeep;
pub mod values;
pub mod wrapping;
