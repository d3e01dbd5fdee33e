//! The sources of spec files.

pub mod folder;
pub mod index;
pub mod share;
pub mod tree;
