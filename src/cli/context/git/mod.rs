//! Git: revisions, committed bytes and authors of lines. One place runs the program.

pub mod committed;
pub mod program;
pub mod tracked;
pub mod tree;
