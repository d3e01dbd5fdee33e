//! Where spec files come from.

pub mod index;
pub mod share;
pub mod tree;
