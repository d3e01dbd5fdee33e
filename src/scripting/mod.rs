//! The Rhai language of hooks: load, check, run, and tools for authors.

pub mod check;
pub mod folder;
pub mod host;
pub mod language;
pub mod loader;
pub mod run;
pub mod tools;
