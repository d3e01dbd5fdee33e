//! Tools for authors: test cases, the prompt, comparison of two versions.

pub mod comparison;
pub mod repl;
pub mod testcases;
