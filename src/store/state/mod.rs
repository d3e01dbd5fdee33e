//! A state directory: open, own, compact, exchange the key.

pub mod compact;
pub mod index;
pub mod open;
pub mod rekey;
pub mod rollback;
pub mod snapshot;
