//! One run of a world, with deaths and restarts.

pub mod drive;
pub mod life;
pub mod recovery;
pub mod report;
