//! Files from disk, several at once where there are many: to read and to understand one needs no
//! other, and takes most of the time of a load.

use std::sync::Arc;

use super::file::SpecFile;
use crate::base::folder::{Folder, PathError, Place};
use crate::spec::document::ReadCx;
use crate::spec::source::share::in_order;
use crate::spec::source::tree::{Stat, read};

/// A file to be looked at.
pub(super) struct Wanted<'a> {
    /// Its path below the root.
    pub(super) path: &'a str,
    /// Its name in reports.
    pub(super) name: Arc<str>,
    /// How the listing found it.
    pub(super) stat: Stat,
    /// The hash of what was read before, if it was.
    pub(super) known: Option<[u8; 32]>,
}

/// What a look at a file gave.
pub(super) enum Reading {
    /// Its content is what it was.
    Same,
    /// It was read.
    New(Box<SpecFile>),
    /// It cannot be read.
    Unreadable(PathError),
}

/// Looks at files below `root`; the answers stand in the order of the questions.
pub(super) fn read_all(cx: &ReadCx, root: &Place, wanted: &[Wanted<'_>]) -> Vec<Reading> {
    if wanted.is_empty() {
        return Vec::new();
    }
    if let Ok(root) = root.open() {
        return in_order(wanted, |one| read_one(cx, &root, one));
    }
    // The next look finds the root as it is by then.
    let gone = || PathError::Io(std::io::ErrorKind::NotFound.into());
    wanted.iter().map(|_| Reading::Unreadable(gone())).collect()
}

fn read_one(cx: &ReadCx, root: &Folder, wanted: &Wanted<'_>) -> Reading {
    let bytes = match read(root, wanted.path) {
        Ok(bytes) => bytes,
        Err(error) => return Reading::Unreadable(error),
    };
    let hash = *blake3::hash(&bytes).as_bytes();
    if wanted.known == Some(hash) {
        return Reading::Same;
    }
    Reading::New(Box::new(SpecFile::read(cx, wanted.name.clone(), bytes, wanted.stat, hash)))
}
