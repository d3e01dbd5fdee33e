//! Backups: a consistent copy of journal and vault, its proof, and the restore.

pub mod copy;
pub mod folder;
pub mod kept;
pub mod manifest;
pub mod proof;
pub mod restore;
pub mod write;
