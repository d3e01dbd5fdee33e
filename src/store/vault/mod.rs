//! Sealed values, with keys that can be erased.

pub mod blob;
pub mod check;
pub mod cipher;
pub mod error;
pub mod frame;
pub mod generation;
pub mod key;
pub mod key_file;
pub mod keys;
pub mod named;
pub mod reference;
pub mod rekey;
pub mod rewrite;
pub mod state;
pub mod values;
pub mod within;
pub mod wrapping;
