//! The Rhai language of hooks: load, check, run, and tools for authors.

pub mod check;
pub mod host;
pub mod interface;
pub mod load;
pub mod run;
pub mod tools;
