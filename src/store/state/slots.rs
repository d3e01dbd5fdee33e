//! The folders of the index: one is in use, and a compaction fills another.
//!
//! `sled` is in use, unless the file `sled.newer` says that `sled.next` is. Opening moves that one
//! to `sled`. A kill at any step leaves one folder in use; its content is trusted or rebuilt like
//! that of every index.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use parking_lot::Mutex;

use crate::store::disk::real::sync_dir;
use crate::store::index::ordered::{Index, IndexError, MemoryIndex};
use crate::store::index::sled::SledIndex;

const FIRST: &str = "sled";
const SECOND: &str = "sled.next";
/// Exists while the second folder is in use.
const NEWER: &str = "sled.newer";

/// Creates indexes beside the one in use.
pub trait IndexSlots: Send + Sync + Debug {
    /// Creates an empty index beside the one in use.
    fn create(&self) -> Result<Arc<dyn Index>, IndexError>;

    /// Notes, durably, that the fresh index is in use, and removes the former one, which no code
    /// uses any more.
    fn switch(&self) -> Result<(), IndexError>;

    /// Removes an unused index beside the one in use.
    fn discard(&self) -> Result<(), IndexError>;

    /// Returns the bytes on disk of the index in use.
    fn bytes(&self) -> u64;
}

/// Folders of an open state directory.
#[derive(Debug)]
pub(crate) struct IndexFolders {
    dir: PathBuf,
    /// The names of the folder in use and of the other one.
    names: Mutex<(&'static str, &'static str)>,
}

impl IndexFolders {
    /// Returns the folders of a state directory that was settled.
    pub(crate) fn of(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), names: Mutex::new((FIRST, SECOND)) }
    }

    fn to_index_error(&self) -> impl FnOnce(io::Error) -> IndexError + use<> {
        let path = self.dir.clone();
        |source| IndexError::Io { path, source }
    }
}

impl IndexSlots for IndexFolders {
    fn create(&self) -> Result<Arc<dyn Index>, IndexError> {
        let folder = self.dir.join(self.names.lock().1);
        remove_folder(&folder).map_err(self.to_index_error())?;
        Ok(Arc::new(SledIndex::open(&folder)?))
    }

    fn switch(&self) -> Result<(), IndexError> {
        let mut names = self.names.lock();
        *names = (names.1, names.0);
        note_second(&self.dir, names.0 == SECOND).map_err(self.to_index_error())?;
        remove_folder(&self.dir.join(names.1)).map_err(self.to_index_error())
    }

    fn discard(&self) -> Result<(), IndexError> {
        remove_folder(&self.dir.join(self.names.lock().1)).map_err(self.to_index_error())
    }

    fn bytes(&self) -> u64 {
        let folder = self.dir.join(self.names.lock().0);
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        let lengths = files.filter_map(|file| Some(file.metadata().ok()?.len()));
        lengths.fold(0, u64::saturating_add)
    }
}

/// Indexes in memory; their places are not recorded.
#[derive(Debug)]
pub struct MemorySlots;

impl IndexSlots for MemorySlots {
    fn create(&self) -> Result<Arc<dyn Index>, IndexError> {
        Ok(Arc::new(MemoryIndex::new()))
    }

    fn switch(&self) -> Result<(), IndexError> {
        Ok(())
    }

    fn discard(&self) -> Result<(), IndexError> {
        Ok(())
    }

    fn bytes(&self) -> u64 {
        0
    }
}

/// Moves the folder in use to its place, and removes the other one.
pub(crate) fn settle(dir: &Path) -> io::Result<()> {
    let (first, second) = (dir.join(FIRST), dir.join(SECOND));
    if is_unsettled(dir) {
        if second.is_dir() {
            remove_folder(&first)?;
            fs::rename(&second, &first)?;
            sync_dir(dir)?;
        }
        note_second(dir, false)?;
    }
    remove_folder(&second)
}

/// Returns true if another folder than the first is in use.
pub(crate) fn is_unsettled(dir: &Path) -> bool {
    dir.join(NEWER).exists()
}

/// Notes, durably, if the second folder is in use.
fn note_second(dir: &Path, second: bool) -> io::Result<()> {
    let path = dir.join(NEWER);
    match (second, path.exists()) {
        (true, false) => fs::File::create(&path)?.sync_all()?,
        (false, true) => fs::remove_file(&path)?,
        (true, true) | (false, false) => {}
    }
    sync_dir(dir)
}

/// Removes a folder, if it exists.
fn remove_folder(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::index::ordered::Batch;

    fn fill(index: &dyn Index, value: &str) {
        let mut batch = Batch::new();
        batch.put("key", value);
        index.apply(batch).unwrap();
        index.flush().unwrap();
    }

    fn found(dir: &Path) -> Option<Vec<u8>> {
        settle(dir).unwrap();
        assert!(!dir.join(SECOND).exists() && !is_unsettled(dir));
        SledIndex::open(&dir.join(FIRST)).unwrap().get(b"key").unwrap()
    }

    /// Closes K11: at each step of an exchange one index is in use.
    #[test]
    fn the_folder_in_use_gets_its_place_at_the_next_opening() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path();
        let folders = IndexFolders::of(path);
        fill(&SledIndex::open(&path.join(FIRST)).unwrap(), "old");
        fill(&*folders.create().unwrap(), "half");
        assert_eq!(found(path), Some(b"old".to_vec()), "nobody said that the other one is in use");
        fill(&*folders.create().unwrap(), "full");
        folders.discard().unwrap();
        assert!(path.join(FIRST).exists() && !path.join(SECOND).exists());
        fill(&*folders.create().unwrap(), "new");
        folders.switch().unwrap();
        assert!(!path.join(FIRST).exists() && folders.bytes() > 0);
        fill(&*folders.create().unwrap(), "half");
        assert_eq!(found(path), Some(b"new".to_vec()), "a second exchange was interrupted");
        let folders = IndexFolders::of(path);
        for value in ["newer", "newest"] {
            fill(&*folders.create().unwrap(), value);
            folders.switch().unwrap();
        }
        assert_eq!(found(path), Some(b"newest".to_vec()));
    }
}
