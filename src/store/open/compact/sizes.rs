//! The bytes of a state on disk, by part.

use serde::{Deserialize, Serialize};

use crate::store::disk::Disk;

/// The bytes of a state on disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Snapshot and records in use.
    pub journal: u64,
    /// Records that were put aside.
    pub archive: u64,
    /// Sealed values and their keys.
    pub vault: u64,
    /// The index.
    pub index: u64,
}

impl Sizes {
    /// All of them.
    pub fn total(&self) -> u64 {
        [self.archive, self.vault, self.index].into_iter().fold(self.journal, u64::saturating_add)
    }
}

/// The bytes of the files on a disk. One that goes meanwhile counts as gone.
pub(super) fn of(disk: &dyn Disk) -> std::io::Result<u64> {
    let lengths = disk.list()?.into_iter().filter_map(|file| disk.len(&file).ok());
    Ok(lengths.fold(0, u64::saturating_add))
}
