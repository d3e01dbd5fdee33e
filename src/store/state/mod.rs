//! A state directory: open, own, compact, exchange the key.

pub mod assemble;
pub mod base;
pub mod compact;
pub mod error;
pub mod health;
pub mod high_water;
pub mod key_ownership;
pub mod marks;
pub mod open;
pub mod peek;
pub mod rekey;
pub mod slots;
pub mod watch;
