//! Documents and their annotations, fields and schemas.

pub mod annotations;
pub mod document;
pub mod explain;
pub mod field_path;
pub mod header;
pub mod schema;
