//! The limits of a plan that changes nothing: find every file and read its size and time, or read and hash it.

use std::path::Path;
use std::time::SystemTime;
use std::{fs, io};

use walkdir::WalkDir;

/// Walks a folder and stats its files; returns their number, their bytes, and the newest time.
pub(crate) fn walk_and_stat(folder: &Path) -> io::Result<(usize, u64, SystemTime)> {
    let (mut files, mut bytes, mut newest) = (0_usize, 0_u64, SystemTime::UNIX_EPOCH);
    for entry in WalkDir::new(folder) {
        let entry = entry?;
        if entry.file_type().is_file() {
            let metadata = entry.metadata()?;
            files = files.saturating_add(1);
            bytes = bytes.saturating_add(metadata.len());
            newest = newest.max(metadata.modified()?);
        }
    }
    Ok((files, bytes, newest))
}

/// Walks a folder, reads its files and hashes them. Returns their number, and a digest of all hashes in the order of
/// the walk.
pub(crate) fn walk_and_hash(folder: &Path) -> io::Result<(usize, blake3::Hash)> {
    let mut files = 0_usize;
    let mut all = blake3::Hasher::new();
    for entry in WalkDir::new(folder) {
        let entry = entry?;
        if entry.file_type().is_file() {
            all.update(blake3::hash(&fs::read(entry.path())?).as_bytes());
            files = files.saturating_add(1);
        }
    }
    Ok((files, all.finalize()))
}
