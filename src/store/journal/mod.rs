//! The append-only, hash-chained journal.

pub mod check;
pub mod compact;
pub mod error;
pub mod extent;
pub mod log;
pub mod open;
pub mod pick;
pub mod read;
pub mod record;
pub mod segment;
pub mod snapshot;
pub mod syncs;
pub mod tail;
