//! YAML text: decoding, places, lint, masks.

pub(crate) mod clean;
pub mod decode;
pub mod lint;
pub mod mask;
pub mod node;
pub mod source;
