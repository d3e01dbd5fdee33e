//! YAML text: decoding, places, lint, masks.

pub mod decode;
pub mod finding;
pub mod lines;
pub mod lint;
pub mod mask;
pub mod node;
pub mod split;
