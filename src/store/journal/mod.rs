//! The append-only, hash-chained journal.

pub mod chain;
pub mod check;
pub mod files;
pub mod log;
pub mod read;
pub mod segment;
