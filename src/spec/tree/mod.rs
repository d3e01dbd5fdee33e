//! The tree of files: sources, loading, links between documents.

pub mod attachments;
pub mod defaults;
pub mod file;
pub mod files;
pub mod index;
pub mod links;
pub mod loader;
pub(crate) mod parsed;
pub mod problems;
pub mod rendered;
pub mod roots;
pub mod unique_fields;
pub mod verdicts;
