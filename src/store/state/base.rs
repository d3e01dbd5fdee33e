//! Fills an index from a snapshot, if the records before it are no longer in the journal. A
//! snapshot of an older version of the fold is converted.

use super::assemble::decode;
use super::open::OpenError;
use crate::model::record::Record;
use crate::model::state::compaction::Compacted;
use crate::store::disk::bytes::{ByteReader, to_usize};
use crate::store::index::ordered::{Batch, Index};
use crate::store::journal::error::JournalError;
use crate::store::journal::log::{Head, Journal};
use crate::store::journal::read::JournalReader;
use crate::store::journal::snapshot::SnapshotHeader;
use crate::store::projection::carried::{OLDEST, convert};
use crate::store::read_model::model::{
    FOLD_VERSION, FoldProgress, PROGRESS, ReadModelError, entries, write,
};

/// Entries written at once.
const BATCH_ENTRIES_MAX: usize = 256;

/// Returns the body of a snapshot: every entry of the fold.
pub(in crate::store) fn body(index: &dyn Index) -> Result<Vec<u8>, OpenError> {
    let mut body = Vec::new();
    for (key, value) in entries(index)? {
        for part in [key, value] {
            body.extend(u32::try_from(part.len()).unwrap_or(u32::MAX).to_le_bytes());
            body.extend(part);
        }
    }
    Ok(body)
}

/// Fills an empty index from the snapshot at which the journal begins.
pub(crate) fn load(
    journal: &Journal,
    base: &SnapshotHeader,
    index: &dyn Index,
) -> Result<(), OpenError> {
    load_from(&journal.reader(), base, journal.head().sequence, index)
}

/// Same as `load`, for a journal that others append to. `last` is a durable record behind the one
/// that names the snapshot.
pub(crate) fn load_from(
    journal: &JournalReader,
    base: &SnapshotHeader,
    last: u64,
    index: &dyn Index,
) -> Result<(), OpenError> {
    let wrong = |why| JournalError::Snapshot { file: base.file(), why };
    if base.fold > FOLD_VERSION {
        return Err(wrong("made by a newer program version: use that version").into());
    }
    if base.fold < OLDEST {
        return Err(wrong("made by a program version that is too old").into());
    }
    is_named(journal, base, last)?;
    fill(index, base.head, &journal.body(base)?)?;
    convert(index, base.fold)?;
    Ok(mark(index, base.head)?)
}

/// Puts every entry of a snapshot's body into an empty index, in the order of keys. `head` is the
/// record that the snapshot follows.
pub(crate) fn fill(index: &dyn Index, head: Head, body: &[u8]) -> Result<(), OpenError> {
    let cut = || JournalError::Snapshot {
        file: SnapshotHeader::file_behind(head),
        why: "an entry is cut",
    };
    let mut fields = ByteReader::new(body);
    let mut batch = Batch::new();
    while !fields.clone().rest().is_empty() {
        let key = part(&mut fields).ok_or_else(cut)?;
        let value = part(&mut fields).ok_or_else(cut)?;
        batch.put(key, value);
        if batch.len() >= BATCH_ENTRIES_MAX {
            index.apply(std::mem::take(&mut batch))?;
        }
    }
    Ok(index.apply(batch)?)
}

/// Marks an index as folded up to this record.
pub(crate) fn mark(index: &dyn Index, Head { sequence, hash }: Head) -> Result<(), ReadModelError> {
    let mut batch = Batch::new();
    write(&mut batch, PROGRESS, &FoldProgress { version: FOLD_VERSION, sequence, hash })?;
    Ok(index.apply(batch)?)
}

fn part<'a>(fields: &mut ByteReader<'a>) -> Option<&'a [u8]> {
    let length = u64::from(fields.u32()?);
    fields.take(to_usize(length))
}

/// Verifies that a record behind a snapshot, up to `last`, names it; otherwise the snapshot is
/// foreign.
pub(crate) fn is_named(
    reader: &JournalReader,
    base: &SnapshotHeader,
    last: u64,
) -> Result<(), OpenError> {
    let why = "no later record names it";
    let wrong = || JournalError::Snapshot { file: base.file(), why };
    names(reader, base, last)?.then_some(()).ok_or_else(wrong).map_err(OpenError::from)
}

/// Returns true if a record behind a snapshot names it. The first such record is near: between them
/// lie only records appended while the snapshot was made.
fn names(reader: &JournalReader, base: &SnapshotHeader, last: u64) -> Result<bool, OpenError> {
    for record in reader.records(base.head.sequence.saturating_add(1), last) {
        let record = record?;
        if let Record::Compacted(compacted) = decode(record.sequence, &record.body)?
            && compacted.sequence == base.head.sequence
        {
            return Ok(matches(&compacted, base));
        }
    }
    Ok(false)
}

fn matches(compacted: &Compacted, base: &SnapshotHeader) -> bool {
    *compacted.snapshot.as_bytes() == base.hash && *compacted.replaces.as_bytes() == base.head.hash
}

/// Returns the record behind which the newest snapshot lies that a record up to `last` names.
pub(crate) fn newest_named(reader: &JournalReader, last: u64) -> Result<Option<Head>, OpenError> {
    for sealed in reader.snapshots()?.into_iter().rev() {
        if sealed.head.sequence < last && names(reader, &sealed, last)? {
            return Ok(Some(sealed.head));
        }
    }
    Ok(None)
}
