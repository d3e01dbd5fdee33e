//! Shared by every task: clients, store, settings, and the jobs and results of tasks.

pub mod access;
pub mod calls;
pub mod effect_log;
pub mod effect_report;
pub mod failure;
pub mod read_results;
pub mod refused_credentials;
pub mod registers;
pub mod shared;
pub mod task_result;
