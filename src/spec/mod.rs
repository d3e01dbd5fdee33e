//! Reads manifest files into `Desired` and problems.

pub mod annotations;
pub mod default_fields;
pub mod defaults;
pub mod document;
pub mod explain;
pub mod header;
pub mod lazy_source;
pub mod privacy;
#[cfg(test)]
pub(crate) mod testing;
pub mod text;
pub mod tree;
