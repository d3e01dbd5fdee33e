//! The one door to the journal: append, sync, fold, answer.

pub mod core;
pub mod handle;
