//! Decodes YAML into types, with errors as data.

pub mod document;
mod node_decoder;
pub mod problem;
