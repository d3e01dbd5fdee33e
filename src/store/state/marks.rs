//! The index's own marks: the boot under which it is open, and the journal's position at a clean
//! stop. No part of the state.

use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::open::OpenError;
use crate::model::record::Record;
use crate::store::index::ordered::{Batch, Index};
use crate::store::journal::log::{Head, Position};
use crate::store::projection::fold::IndexFold;
use crate::store::writer::handle::Writer;

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
