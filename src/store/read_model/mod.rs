//! Typed reads of the projection.

pub mod hooks;
pub mod journal_refs;
pub mod model;
pub mod resources;
pub mod retention;
