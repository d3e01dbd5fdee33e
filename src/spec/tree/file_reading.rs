//! Reads files from disk, several at once where there are many. Reading and parsing one file needs
//! no other, and takes most of the time of a load.

use std::sync::Arc;

use super::file::SpecFile;
use super::files::{Stat, read};
use super::parallel::map_in_order;
use crate::base::folder::{Folder, PathError};
use crate::base::folder_location::FolderLocation;
use crate::spec::documents::document::ReadContext;

/// A file to check.
pub(crate) struct FileRequest<'a> {
    /// The path below the root.
    pub(crate) path: &'a str,
    /// The file's name in reports.
    pub(crate) name: Arc<str>,
    /// The state in the listing.
    pub(crate) stat: Stat,
    /// The hash of the content read before, if any.
    pub(crate) known: Option<[u8; 32]>,
}

/// The result of checking a file.
pub(crate) enum FileReading {
    /// The content is unchanged.
    Unchanged,
    Changed(Box<SpecFile>),
    Unreadable(PathError),
}

/// Checks files below `root`; the results have the order of `wanted`.
pub(crate) fn read_all(
    cx: &ReadContext,
    root: &FolderLocation,
    wanted: &[FileRequest<'_>],
) -> Vec<FileReading> {
    if wanted.is_empty() {
        return Vec::new();
    }
    if let Ok(root) = root.open() {
        return map_in_order(wanted, |one| read_one(cx, &root, one));
    }
    // The next check finds the root in its state at that time.
    let gone = || PathError::Io(std::io::ErrorKind::NotFound.into());
    wanted.iter().map(|_| FileReading::Unreadable(gone())).collect()
}

fn read_one(cx: &ReadContext, root: &Folder, wanted: &FileRequest<'_>) -> FileReading {
    let bytes = match read(root, wanted.path) {
        Ok(bytes) => bytes,
        Err(error) => return FileReading::Unreadable(error),
    };
    let hash = *blake3::hash(&bytes).as_bytes();
    if wanted.known == Some(hash) {
        return FileReading::Unchanged;
    }
    FileReading::Changed(Box::new(SpecFile::read(
        cx,
        wanted.name.clone(),
        bytes,
        wanted.stat,
        hash,
    )))
}
