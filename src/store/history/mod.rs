//! Audit reads of the journal.

pub mod entries;
pub mod reader;
