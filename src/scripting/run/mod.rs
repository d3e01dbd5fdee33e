//! Runs one script for one event, within limits.

pub mod engine;
pub mod failure;
pub mod hooks;
