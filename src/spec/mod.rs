//! Reads manifest files into `Desired` and problems.

pub mod decode;
pub mod document;
pub mod explain;
pub mod field_path;
pub mod finding;
pub mod lines;
pub mod links;
pub mod lint;
pub mod loader;
pub mod mask;
pub mod node;
pub mod schema;
pub mod source;
pub mod split;
#[cfg(test)]
pub(crate) mod testing;
