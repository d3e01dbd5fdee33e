//! Backups: a consistent copy of journal and vault, its proof, and the restore.

pub mod error;
pub mod kept;
pub mod proof;
pub mod restore;
pub mod write;
