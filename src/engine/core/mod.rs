//! The loop: inputs, tasks and their results, shutdown.

pub mod bookkeeping;
pub mod cause;
pub mod commands;
pub mod compaction;
pub mod coordinator;
pub mod current;
pub mod finish;
pub mod handles;
pub mod hooks;
pub mod input;
pub mod limits;
pub mod reader;
pub mod reads;
pub mod rekey;
pub mod retention;
pub mod schedule;
pub mod start;
pub mod task_result;
pub mod tasks;
