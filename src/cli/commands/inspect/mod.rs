//! Reads state and documents, and changes nothing.

pub mod get;
pub mod intents;
pub mod validate;
pub mod why;
