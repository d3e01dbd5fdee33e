//! The bytes of a state on disk, by part.

use serde::{Deserialize, Serialize};

use crate::store::disk::traits::Disk;

/// The bytes of a state on disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Snapshot and records in use.
    pub journal: u64,
    /// Archived records.
    pub archive: u64,
    /// Sealed values and their keys.
    pub vault: u64,
    pub index: u64,
}

impl Sizes {
    /// Returns the sum of all parts.
    pub fn total(&self) -> u64 {
        [self.archive, self.vault, self.index].into_iter().fold(self.journal, u64::saturating_add)
    }
}

/// Returns the bytes of the files on a disk. A file that is removed meanwhile does not count.
pub(super) fn of(disk: &dyn Disk) -> std::io::Result<u64> {
    let lengths = disk.list()?.into_iter().filter_map(|file| disk.len(&file).ok());
    Ok(lengths.fold(0, u64::saturating_add))
}
