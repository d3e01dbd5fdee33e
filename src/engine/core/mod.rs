//! The loop: inputs, tasks and their results, shutdown.

pub mod bookkeeping;
pub mod cause;
pub mod commands;
pub mod compaction;
pub mod coordinator;
pub mod current;
pub mod files;
pub mod finish;
pub mod hooks;
pub mod limits;
pub mod reader;
pub mod reads;
pub mod retention;
pub mod scheduling;
pub mod start;
pub mod tasks;
pub mod upkeep;
