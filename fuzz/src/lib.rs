//! The functions that every fuzz target calls.

pub mod targets;
