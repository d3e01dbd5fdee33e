//! Where spec files come from.

pub mod folder;
pub mod index;
pub mod share;
pub mod tree;
