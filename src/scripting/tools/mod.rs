//! Tools for authors: test cases, the prompt, comparison of two versions.

pub mod comparison;
pub mod former_names;
pub mod repl;
pub mod testcases;
