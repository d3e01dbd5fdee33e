//! Reads manifest files into `Desired` and problems.

pub mod documents;
#[cfg(test)]
pub(crate) mod testing;
pub mod text;
pub mod tree;
