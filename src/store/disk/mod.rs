//! The disk, as a seam that tests can make fail.

pub mod directory;
pub mod traits;
