//! The row of a kind, its fields, references and texts, and their JSON Schema.

pub mod amount;
pub mod decode_error;
pub mod json_schema;
pub mod kind;
pub mod open_variables;
pub mod reference;
pub mod refused_field;
pub mod register;
pub mod text;
pub mod whole_number;
