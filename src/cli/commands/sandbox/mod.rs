//! The emulated service as a command, and its scenarios.

pub mod command;
pub mod env;
pub mod scenario;
