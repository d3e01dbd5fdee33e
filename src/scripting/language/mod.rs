//! Leaf floor of scripting: sources, events, values with their JSON, limits, names and templates.

pub mod json;
pub mod limits;
pub mod names;
pub mod source;
pub mod template;
pub mod values;
