//! Audit reads of the journal.

pub mod adoption;
pub mod event_history;
pub mod reader;
pub mod words;
