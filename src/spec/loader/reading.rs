//! Files from disk, several at once where there are many: to read and to understand one needs no
//! other, and takes most of the time of a load.

use std::io;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use super::file::SpecFile;
use crate::spec::document::ReadCx;
use crate::spec::source::tree::{Stat, read};

/// Fewer files than this are not worth a thread.
const FILES_PER_THREAD_MIN: usize = 128;

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
    Unreadable(io::Error),
}

/// Looks at files below `root`; the answers stand in the order of the questions.
pub(super) fn read_all(cx: &ReadCx, root: &Path, wanted: &[Wanted<'_>]) -> Vec<Reading> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(wanted.len().div_ceil(FILES_PER_THREAD_MIN)).max(1);
    let share = |part: &[Wanted<'_>]| -> Vec<Reading> {
        part.iter().map(|one| read_one(cx, root, one)).collect()
    };
    if threads == 1 {
        return share(wanted);
    }
    thread::scope(|scope| {
        let parts = wanted.chunks(wanted.len().div_ceil(threads));
        let running: Vec<_> = parts.map(|part| scope.spawn(move || share(part))).collect();
        let ended =
            running.into_iter().map(|one| one.join().unwrap_or_else(|why| resume_unwind(why)));
        ended.flatten().collect()
    })
}

fn read_one(cx: &ReadCx, root: &Path, wanted: &Wanted<'_>) -> Reading {
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
