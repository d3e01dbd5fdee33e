//! Reads manifest files into `Desired` and problems.

pub mod annotations;
pub mod document;
pub mod explain;
pub mod header;
#[cfg(test)]
pub(crate) mod testing;
pub mod text;
pub mod tree;
