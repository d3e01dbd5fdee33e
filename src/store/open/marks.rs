//! What the index says about itself: under which boot it is open, and where the journal stood at a
//! clean stop. No part of the state.

use serde::{Deserialize, Serialize};

use super::OpenError;
use crate::model::record::Record;
use crate::store::error::StoreError;
use crate::store::fold::IndexFold;
use crate::store::index::{Batch, Index};
use crate::store::journal::{Head, Position};
use crate::store::writer::Writer;

/// Under which boot the index was last open; gone after a clean stop.
pub(super) const BOOT: &[u8] = b"x/boot";
/// Where the journal stood at a clean stop.
pub(super) const CLEAN: &[u8] = b"x/clean";

/// Ends cleanly: what is open next starts from here.
pub async fn close(
    writer: &Writer<Record, IndexFold>,
    index: &dyn Index,
) -> Result<Head, OpenError> {
    let mut parts = writer.close().await?;
    parts.journal.seal_mark()?;
    let position = parts.journal.position();
    note_closed(index, &position)?;
    Ok(position.head)
}

/// Notes where the journal stands at a clean stop.
pub(super) fn note_closed(index: &dyn Index, position: &Position) -> Result<(), OpenError> {
    let mut batch = Batch::new();
    put(&mut batch, CLEAN, position)?;
    batch.remove(BOOT);
    index.apply(batch)?;
    index.flush()?;
    Ok(())
}

/// Notes under which boot the index is open: until a clean stop, a power cut may leave anything.
pub(super) fn mark_open(index: &dyn Index, boot: &str) -> Result<(), OpenError> {
    let mut batch = Batch::new();
    put(&mut batch, BOOT, &boot)?;
    batch.remove(CLEAN);
    index.apply(batch)?;
    index.flush()?;
    Ok(())
}

/// Reads an entry about the index itself; an unreadable one is none.
pub(super) fn get<T: for<'a> Deserialize<'a>>(index: &dyn Index, key: &[u8]) -> Option<T> {
    let bytes = index.get(key).ok()??;
    ciborium::from_reader(&*bytes).ok()
}

/// Writes an entry about the index itself.
fn put<T: Serialize>(batch: &mut Batch, key: &[u8], value: &T) -> Result<(), StoreError> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes)
        .map_err(|error| StoreError::Encode { why: error.to_string() })?;
    batch.put(key, bytes);
    Ok(())
}
