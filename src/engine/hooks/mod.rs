//! Hook runs: workers for each merchant, batches of events, action requests, notifications.

pub mod actions;
pub mod batch;
pub mod context;
pub mod event;
pub mod notify;
pub mod pool;
pub mod queue;
pub mod retry;
pub mod roster;
pub mod scripts;
pub mod sealed_words;
pub mod turn;
pub mod worker;
