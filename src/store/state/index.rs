//! The index of a state: its own marks (the boot under which it is open, and the journal's position at
//! a clean stop; no part of the state), opening it without the journal, and its folders.
//!
//! `sled` is in use, unless the file `sled.newer` says that `sled.next` is, which a compaction filled.
//! Opening moves that one to `sled`. A kill at any step leaves one folder in use; its content is
//! trusted or rebuilt like that of every index.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::store::disk::directory::{LockOwner, StateLock, sync_dir};
use crate::store::error::{OpenError, OpenReport, OpenResult};
use crate::store::index::buffered::BufferedIndex;
use crate::store::index::logged::LoggedIndex;
use crate::store::index::ordered::{Batch, Index, IndexError, IndexResult, MemoryIndex};
use crate::store::index::sled::SledIndex;
use crate::store::journal::chain::{Head, Position};
use crate::store::projection::fold::StateWriter;
use crate::store::read_model::model::write;
use crate::store::state::rollback::MarkOptions;

/// The index of a state that was closed cleanly, opened without its journal.
#[derive(Debug)]
pub struct ClosedIndex {
    /// The index; read only values that are no part of the state.
    pub index: Arc<dyn Index>,
    /// The journal's head at the clean stop.
    pub head: Head,
    _lock: StateLock,
}

/// Opens the index of a state for reading. `None` if the state does not exist, was not closed
/// cleanly, or does not match its mark. Nothing is written.
pub fn open_closed(
    dir: &Path,
    owner: &LockOwner,
    marking: Option<&MarkOptions>,
) -> OpenResult<Option<ClosedIndex>> {
    if !dir.join("sled").join("db").exists() || is_unsettled(dir) {
        return Ok(None);
    }
    let lock = StateLock::acquire(dir, owner)?;
    let marked = marking.map(|marking| marking.peek(dir)).transpose()?.flatten();
    let index: Arc<dyn Index> = Arc::new(SledIndex::open(&dir.join("sled"))?);
    let clean: Option<Position> = read_mark(&*index, CLEAN);
    let clean = clean.filter(|clean| marked.is_none_or(|marked| marked == clean.head));
    Ok(clean.map(|clean| ClosedIndex { index, head: clean.head, _lock: lock }))
}

/// Opens the index of an emulator, beside any state. Flushed values survive the process, but no power
/// cut. Entries of the folder `former`, of a program that kept them in sled, are moved to it.
pub fn logged_index(
    dir: &Path,
    looked_up: &'static [&'static str],
    former: &Path,
) -> IndexResult<Arc<dyn Index>> {
    let has_former = former.join("db").exists();
    let first = || if has_former { SledIndex::open(former)?.scan(b"") } else { Ok(Vec::new()) };
    let index = LoggedIndex::open(dir, looked_up, first)?;
    if has_former {
        let failed = |source| IndexError::Io { path: former.to_owned(), source };
        fs::remove_dir_all(former).map_err(failed)?;
    }
    Ok(Arc::new(index))
}

/// Opens the index of a state directory; a damaged one is moved aside, never deleted.
pub(crate) fn open_index(dir: &Path, found: &mut OpenReport) -> OpenResult<Arc<BufferedIndex>> {
    settle_slots(dir).map_err(|source| OpenError::Io { dir: dir.to_owned(), source })?;
    let path = &dir.join("sled");
    match SledIndex::open(path) {
        Ok(index) => Ok(Arc::new(BufferedIndex::new(Arc::new(index)))),
        Err(error @ IndexError::Corrupt { .. }) => {
            let aside = free_name(path);
            fs::rename(path, &aside)
                .map_err(|source| OpenError::Io { dir: path.to_owned(), source })?;
            found.rebuilt = Some(error.to_string());
            found.moved_aside = Some(aside);
            Ok(Arc::new(BufferedIndex::new(Arc::new(SledIndex::open(path)?))))
        }
        Err(error) => Err(error.into()),
    }
}

fn free_name(path: &Path) -> PathBuf {
    let name = |number: u32| path.with_extension(format!("damaged-{number}"));
    (1..u32::MAX).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(0))
}

/// The boot under which the index was last open; removed at a clean stop.
pub(crate) const BOOT: &[u8] = b"x/boot";
/// The journal's position at a clean stop.
pub(crate) const CLEAN: &[u8] = b"x/clean";

/// Closes the writer cleanly, so that the next opening starts from here.
pub async fn close_state(writer: &StateWriter, index: &dyn Index) -> OpenResult<Head> {
    let mut parts = writer.close().await?;
    parts.journal.sync_mark()?;
    let position = parts.journal.position();
    replace_mark(index, BOOT, (CLEAN, &position))?;
    Ok(position.head)
}

/// Notes the boot under which the index is open: a power cut may leave anything until a clean stop.
pub(crate) fn mark_open(index: &dyn Index, boot: &str) -> OpenResult {
    replace_mark(index, CLEAN, (BOOT, &boot))
}

/// Replaces one of the index's own marks by another one, durably.
fn replace_mark<T: Serialize>(
    index: &dyn Index,
    former: &[u8],
    (key, value): (&[u8], &T),
) -> OpenResult {
    let mut batch = Batch::new();
    write(&mut batch, key, value)?;
    batch.remove(former);
    index.apply(batch)?;
    Ok(index.flush()?)
}

/// Reads one of the index's own marks; an unreadable one counts as missing.
pub(crate) fn read_mark<T: for<'a> Deserialize<'a>>(index: &dyn Index, key: &[u8]) -> Option<T> {
    ciborium::from_reader(&*index.get(key).ok()??).ok()
}

const FIRST: &str = "sled";
const SECOND: &str = "sled.next";
/// Exists while the second folder is in use.
const NEWER: &str = "sled.newer";

/// Creates indexes beside the one in use. Without an own form, an index has no place on disk.
pub trait IndexSlots: Send + Sync + Debug {
    fn create(&self) -> IndexResult<Arc<dyn Index>>;

    /// Notes, durably, that the fresh index is in use, and removes the former one, now unused.
    fn switch(&self) -> IndexResult {
        Ok(())
    }

    /// Removes an unused index beside the one in use.
    fn discard(&self) -> IndexResult {
        Ok(())
    }

    /// Returns the bytes on disk of the index in use.
    fn bytes(&self) -> u64 {
        0
    }
}

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
    fn create(&self) -> IndexResult<Arc<dyn Index>> {
        let folder = self.dir.join(self.names.lock().1);
        remove_folder(&folder).map_err(self.to_index_error())?;
        Ok(Arc::new(SledIndex::open(&folder)?))
    }

    fn switch(&self) -> IndexResult {
        let mut names = self.names.lock();
        *names = (names.1, names.0);
        note_second(&self.dir, names.0 == SECOND).map_err(self.to_index_error())?;
        remove_folder(&self.dir.join(names.1)).map_err(self.to_index_error())
    }

    fn discard(&self) -> IndexResult {
        remove_folder(&self.dir.join(self.names.lock().1)).map_err(self.to_index_error())
    }

    fn bytes(&self) -> u64 {
        let folder = self.dir.join(self.names.lock().0);
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        files.filter_map(|file| Some(file.metadata().ok()?.len())).fold(0, u64::saturating_add)
    }
}

/// Indexes in memory; their places are not recorded.
#[derive(Debug)]
pub struct MemorySlots;

impl IndexSlots for MemorySlots {
    fn create(&self) -> IndexResult<Arc<dyn Index>> {
        Ok(Arc::new(MemoryIndex::new()))
    }
}

/// Moves the folder in use to its place, and removes the other one.
fn settle_slots(dir: &Path) -> io::Result<()> {
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
fn is_unsettled(dir: &Path) -> bool {
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
        settle_slots(dir).unwrap();
        assert!(!dir.join(SECOND).exists() && !is_unsettled(dir));
        SledIndex::open(&dir.join(FIRST)).unwrap().get(b"key").unwrap()
    }

    #[test]
    fn the_entries_of_a_former_emulator_are_moved_once() {
        let dir = tempfile::tempdir().unwrap();
        let (own, former) = (dir.path().join("state"), dir.path().join("index"));
        fill(&SledIndex::open(&former).unwrap(), "old");
        let index = logged_index(&own, &[], &former).unwrap();
        assert_eq!(
            (index.get(b"key").unwrap().unwrap(), former.exists()),
            (b"old".to_vec(), false)
        );
        fill(&*index, "new");
        drop(index);
        let index = logged_index(&own, &[], &former).unwrap();
        assert_eq!(index.get(b"key").unwrap().unwrap(), b"new");
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
