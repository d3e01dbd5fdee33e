//! The loop: inputs, tasks and their results, shutdown.

pub mod cause;
pub mod compaction;
pub mod coordinator;
pub mod current;
pub mod handles;
pub mod input;
pub mod reader;
pub mod rekey;
pub mod retention;
pub mod task_result;
