//! The Rhai language of hooks: load, check, run, and tools for authors.

pub mod check;
pub mod engine;
pub mod hooks;
pub mod host;
pub mod language;
pub mod loader;
pub mod tools;
