//! A state directory: open, own, compact, exchange the key.

pub mod archive;
pub mod assemble;
pub mod compact;
pub mod error;
pub mod index;
pub mod open;
pub mod rekey;
pub mod slots;
pub mod snapshot;
pub mod watch;
