//! The row of a kind, its fields, references and texts, and their JSON Schema.

pub mod kind;
pub mod text;
pub mod values;
