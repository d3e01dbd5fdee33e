//! Where spec files come from.

pub mod index;
pub mod tree;
