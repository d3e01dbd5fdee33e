//! The index of a state: its own marks (the boot under which it is open, and the journal's position at
//! a clean stop; no part of the state), and opening it without the journal.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::slots;
use super::watch::MarkOptions;
use crate::model::record::Record;
use crate::store::disk::directory::{LockOwner, StateLock};
use crate::store::error::StoreError;
use crate::store::index::buffered::BufferedIndex;
use crate::store::index::ordered::{Batch, Index, IndexError};
use crate::store::index::sled::SledIndex;
use crate::store::journal::chain::{Head, Position};
use crate::store::projection::fold::IndexFold;
use crate::store::state::error::{OpenError, OpenReport};
use crate::store::writer::handle::Writer;

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
) -> Result<Option<ClosedIndex>, OpenError> {
    if !dir.join("sled").join("db").exists() || slots::is_unsettled(dir) {
        return Ok(None);
    }
    let lock = StateLock::acquire(dir, owner)?;
    let marked = marking.map(|marking| marking.peek(dir)).transpose()?.flatten();
    let index: Arc<dyn Index> = Arc::new(SledIndex::open(&dir.join("sled"))?);
    let clean: Option<Position> = get(&*index, CLEAN);
    let clean = clean.filter(|clean| marked.is_none_or(|marked| marked == clean.head));
    Ok(clean.map(|clean| ClosedIndex { index, head: clean.head, _lock: lock }))
}

/// Opens a private index, beside any state. Flushed values survive the end of the process, but not
/// a power cut.
pub fn private_index(dir: &Path) -> Result<Arc<dyn Index>, IndexError> {
    Ok(Arc::new(SledIndex::open(dir)?.without_sync()))
}

/// Opens the index of a state directory; a damaged one is moved aside, never deleted.
pub(crate) fn open_index(
    dir: &Path,
    found: &mut OpenReport,
) -> Result<Arc<BufferedIndex>, OpenError> {
    slots::settle(dir).map_err(|source| OpenError::Io { dir: dir.to_owned(), source })?;
    let path = &dir.join("sled");
    match SledIndex::open(path) {
        Ok(index) => Ok(Arc::new(BufferedIndex::new(Arc::new(index)))),
        Err(error @ IndexError::Corrupt { .. }) => {
            let aside = free_name(path);
            std::fs::rename(path, &aside)
                .map_err(|source| OpenError::Io { dir: path.to_owned(), source })?;
            found.rebuilt = Some(error.to_string());
            found.moved_aside = Some(aside);
            Ok(Arc::new(BufferedIndex::new(Arc::new(SledIndex::open(path)?))))
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns an unused name beside a folder.
fn free_name(path: &Path) -> PathBuf {
    let name = |number: u32| path.with_extension(format!("damaged-{number}"));
    (1..u32::MAX).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(0))
}

/// The boot under which the index was last open; removed at a clean stop.
pub(crate) const BOOT: &[u8] = b"x/boot";
/// The journal's position at a clean stop.
pub(crate) const CLEAN: &[u8] = b"x/clean";

/// Closes the writer cleanly, so that the next opening starts from here.
pub async fn close(
    writer: &Writer<Record, IndexFold>,
    index: &dyn Index,
) -> Result<Head, OpenError> {
    let mut parts = writer.close().await?;
    parts.journal.sync_mark()?;
    let position = parts.journal.position();
    note_closed(index, &position)?;
    Ok(position.head)
}

/// Notes the journal's position at a clean stop.
pub(crate) fn note_closed(index: &dyn Index, position: &Position) -> Result<(), OpenError> {
    let mut batch = Batch::new();
    put(&mut batch, CLEAN, position)?;
    batch.remove(BOOT);
    index.apply(batch)?;
    index.flush()?;
    Ok(())
}

/// Notes the boot under which the index is open: until a clean stop, a power cut may leave
/// anything.
pub(crate) fn mark_open(index: &dyn Index, boot: &str) -> Result<(), OpenError> {
    let mut batch = Batch::new();
    put(&mut batch, BOOT, &boot)?;
    batch.remove(CLEAN);
    index.apply(batch)?;
    index.flush()?;
    Ok(())
}

/// Reads one of the index's own marks; an unreadable one counts as missing.
pub(crate) fn get<T: for<'a> Deserialize<'a>>(index: &dyn Index, key: &[u8]) -> Option<T> {
    let bytes = index.get(key).ok()??;
    ciborium::from_reader(&*bytes).ok()
}

/// Writes one of the index's own marks.
fn put<T: Serialize>(batch: &mut Batch, key: &[u8], value: &T) -> Result<(), StoreError> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes)
        .map_err(|error| StoreError::Encode { why: error.to_string() })?;
    batch.put(key, bytes);
    Ok(())
}
