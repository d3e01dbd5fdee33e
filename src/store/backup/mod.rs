//! Backups: a consistent copy of journal and vault, its proof, and the restore.

pub mod manifest;
pub mod restore;
pub mod write;
