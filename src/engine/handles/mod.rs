//! Shared by every task: clients, store, settings, and the jobs and results of tasks.

pub mod access;
pub mod feed;
pub mod late_calls;
pub mod registers;
pub mod shared;
pub mod task_result;
