//! The tree of files: sources, loading, links between documents.

pub mod attachments;
pub mod file;
pub mod file_reading;
pub mod files;
pub mod index;
pub mod links;
pub mod loader;
pub mod parallel;
pub mod problems;
pub mod revision;
pub mod unique_fields;
pub mod verdicts;
