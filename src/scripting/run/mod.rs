//! Runs one script for one event, within limits.

pub mod engine;
pub mod failure;
pub mod json;
pub mod limits;
pub mod quota;
pub mod runner;
pub mod session;
pub mod stack;
pub mod values;
