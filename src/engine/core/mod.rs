//! The loop: inputs, tasks and their results, shutdown.

pub mod alerts;
pub mod commands;
pub mod coordinator;
pub mod current;
pub mod finish;
pub mod hooks;
pub mod reads;
pub mod retention;
pub mod scheduling;
pub mod start;
pub mod tasks;
pub mod unhandled;
mod upkeep;

#[cfg(test)]
mod tests;
