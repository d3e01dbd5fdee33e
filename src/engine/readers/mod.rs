//! Reads of the service that change nothing: refreshes, resyncs of lists, unknown objects.

pub mod compare;
pub mod read;
pub mod sweep;
pub mod sweep_task;
pub mod timers;
