//! The row of a kind, its fields, references and texts, and their JSON Schema.

pub mod amount;
pub mod files;
pub mod kind;
pub mod open_variables;
pub mod reference;
pub mod refused_field;
pub mod text;
pub mod whole_number;
