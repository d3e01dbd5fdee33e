//! The append-only, hash-chained journal.

pub mod chain;
pub mod check;
pub mod files;
pub mod high_water;
pub mod log;
pub mod open;
pub mod read;
pub mod record;
pub mod segment;
pub mod snapshot;
