//! Fills an index from a snapshot, if the records before it are no longer in the journal. A
//! snapshot of an older version of the fold is converted.
//!
//! A compaction builds a fresh index from the snapshot and the journal while the old one is in use.

use std::sync::Arc;

use crate::model::record::Record;
use crate::store::disk::traits::{ByteReader, to_usize};
use crate::store::error::{OpenError, OpenResult, StoreError};
use crate::store::index::buffered::BufferedIndex;
use crate::store::index::ordered::{Batch, Index};
use crate::store::journal::chain::{Head, JournalError};
use crate::store::journal::read::{JournalReader, JournalRecords};
use crate::store::journal::segment::{SnapshotHeader, snapshot_name};
use crate::store::projection::fold::IndexFold;
use crate::store::projection::migration::{OLDEST, convert};
use crate::store::read_model::model::{Changes, ReadModel, ReadResult};
use crate::store::read_model::resources::{FOLD_VERSION, FoldProgress, PROGRESS, entries};
use crate::store::writer::core::{Fold, decoded};

const BATCH_ENTRIES_MAX: usize = 256;

/// Returns the body of a snapshot: every entry of the fold.
pub(crate) fn body(index: &dyn Index) -> OpenResult<Vec<u8>> {
    let mut body = Vec::new();
    for (key, value) in entries(index)? {
        for part in [key, value] {
            body.extend(u32::try_from(part.len()).unwrap_or(u32::MAX).to_le_bytes());
            body.extend(part);
        }
    }
    Ok(body)
}

/// Fills an empty index from the snapshot at which the journal begins; others may append to the
/// journal. `last` is a durable record behind the one that names the snapshot.
pub(crate) fn load(
    journal: &JournalReader,
    base: &SnapshotHeader,
    last: u64,
    index: &dyn Index,
) -> OpenResult {
    let wrong = |why| JournalError::Snapshot { file: base.file(), why };
    if base.fold > FOLD_VERSION {
        return Err(wrong("made by a newer program version: use that version").into());
    }
    if base.fold < OLDEST {
        return Err(wrong("made by a program version that is too old").into());
    }
    is_named(journal, base, last)?;
    fill(index, base.head, &journal.body(base)?)?;
    convert(index, base.fold).map_err(StoreError::from)?;
    Ok(mark(index, base.head)?)
}

/// Puts every entry of a snapshot's body, behind the record `head`, into an empty index.
pub(crate) fn fill(index: &dyn Index, head: Head, body: &[u8]) -> OpenResult {
    let cut =
        || JournalError::Snapshot { file: snapshot_name(head.sequence), why: "an entry is cut" };
    let mut fields = ByteReader::new(body);
    let mut batch = Batch::new();
    while !fields.clone().rest().is_empty() {
        let key = part(&mut fields).ok_or_else(cut)?;
        batch.put(key, part(&mut fields).ok_or_else(cut)?);
        if batch.len() >= BATCH_ENTRIES_MAX {
            index.apply(std::mem::take(&mut batch))?;
        }
    }
    Ok(index.apply(batch)?)
}

/// Marks an index as folded up to this record.
pub(crate) fn mark(index: &dyn Index, Head { sequence, hash }: Head) -> ReadResult {
    let mut batch = Batch::new();
    let progress = FoldProgress { version: FOLD_VERSION, sequence, hash };
    PROGRESS.put(&mut Changes::new(index, &mut batch), (), &progress)?;
    Ok(index.apply(batch)?)
}

fn part<'a>(fields: &mut ByteReader<'a>) -> Option<&'a [u8]> {
    let length = u64::from(fields.u32()?);
    fields.take(to_usize(length))
}

/// Verifies that a record behind a snapshot, up to `last`, names it; otherwise it is foreign.
pub(crate) fn is_named(reader: &JournalReader, base: &SnapshotHeader, last: u64) -> OpenResult {
    let wrong = || JournalError::Snapshot { file: base.file(), why: "no later record names it" };
    names(reader, base, last)?.then_some(()).ok_or_else(wrong).map_err(OpenError::from)
}

/// Returns true if a record behind a snapshot names it. The first such record is near: between them
/// lie only records appended while the snapshot was made.
fn names(reader: &JournalReader, base: &SnapshotHeader, last: u64) -> OpenResult<bool> {
    for record in decoded(reader.records(base.head.sequence.saturating_add(1), last)) {
        if let (_, Record::Compacted(compacted)) = record?
            && compacted.sequence == base.head.sequence
        {
            return Ok(*compacted.snapshot.as_bytes() == base.hash
                && *compacted.replaces.as_bytes() == base.head.hash);
        }
    }
    Ok(false)
}

/// Returns the record behind which the newest snapshot lies that a record up to `last` names.
pub(crate) fn newest_named(reader: &JournalReader, last: u64) -> OpenResult<Option<Head>> {
    for sealed in reader.snapshots()?.into_iter().rev() {
        if sealed.head.sequence < last && names(reader, &sealed, last)? {
            return Ok(Some(sealed.head));
        }
    }
    Ok(None)
}

const BATCH_RECORDS_MAX: usize = 32;

/// Prefix of the index's own marks and of values that are no part of the state.
const OWN: &[u8] = b"x/";

/// Check to go on; an error ends the work.
type CheckOpen<'a> = &'a dyn Fn() -> OpenResult;

/// Folds records that follow `head`; returns the last one.
pub(crate) fn fold_records(
    fold: &mut IndexFold,
    records: JournalRecords,
    mut head: Head,
    goes_on: CheckOpen<'_>,
) -> OpenResult<Head> {
    let mut batch = Vec::new();
    for record in decoded(records) {
        let (at, record) = record?;
        head = at;
        batch.push((at.sequence, record));
        if batch.len() >= BATCH_RECORDS_MAX {
            goes_on()?;
            fold.apply(&std::mem::take(&mut batch), head)?;
        }
    }
    if !batch.is_empty() {
        fold.apply(&batch, head)?;
    }
    Ok(head)
}

#[derive(Debug)]
pub(crate) struct FreshIndex {
    journal: JournalReader,
    behind: Arc<dyn Index>,
    index: Arc<BufferedIndex>,
    fold: IndexFold,
    pub(crate) reached: Head,
}

impl FreshIndex {
    /// Returns the body of a snapshot behind this record, which must be durable. The records are
    /// folded in an empty scratch index, which is then removed: its files also hold entries that
    /// were put and removed again.
    pub(crate) fn snapshot_body(
        journal: &JournalReader,
        scratch: Arc<dyn Index>,
        head: Head,
        goes_on: CheckOpen<'_>,
    ) -> OpenResult<Vec<u8>> {
        let mut reached = Head::EMPTY;
        if let Some(base) = journal.base()? {
            load(journal, &base, head.sequence, &*scratch)?;
            reached = base.head;
        }
        let mut fresh = Self::over(journal, scratch, reached);
        fresh.catch_up(head, goes_on)?;
        body(&*fresh.index)
    }

    pub(crate) fn from_snapshot(
        journal: &JournalReader,
        empty: Arc<dyn Index>,
        (head, body): (Head, &[u8]),
    ) -> OpenResult<Self> {
        fill(&*empty, head, body)?;
        mark(&*empty, head)?;
        Ok(Self::over(journal, empty, head))
    }

    fn over(journal: &JournalReader, behind: Arc<dyn Index>, reached: Head) -> Self {
        let index = Arc::new(BufferedIndex::new(behind.clone()));
        let fold = IndexFold::new(index.clone());
        Self { journal: journal.clone(), behind, index, fold, reached }
    }

    /// Folds the records up to this one, which must be durable.
    ///
    /// # Errors
    /// The journal does not run through `head`: the disk does not hold the data that was written.
    pub(crate) fn catch_up(&mut self, head: Head, goes_on: CheckOpen<'_>) -> OpenResult {
        let records = self.journal.records(self.reached.sequence.saturating_add(1), head.sequence);
        self.reached = fold_records(&mut self.fold, records, self.reached, goes_on)?;
        if self.reached == head {
            return Ok(());
        }
        Err(JournalError::Forgotten { known: head, found: self.reached }.into())
    }

    /// Makes the index durable so far, with the marks of the index in use.
    pub(crate) fn flush(&self, used: &BufferedIndex) -> OpenResult {
        let mut own = Batch::new();
        for (key, value) in used.scan(OWN)?.into_iter().filter(|(key, _)| key != PROGRESS.prefix())
        {
            own.put(key, value);
        }
        self.index.apply(own)?;
        Ok(self.index.flush()?)
    }

    /// Replaces the index in use, which must have folded the same records; returns the former one.
    pub(crate) fn take_over(self, used: &BufferedIndex) -> OpenResult<Arc<dyn Index>> {
        let (ours, theirs) = (ReadModel::progress_of(&*self.index)?, ReadModel::progress_of(used)?);
        if ours != theirs {
            let known = theirs
                .map_or(Head::EMPTY, |mark| Head { sequence: mark.sequence, hash: mark.hash });
            return Err(JournalError::Forgotten { known, found: self.reached }.into());
        }
        self.index.pass_on()?;
        Ok(used.exchange(self.behind, OWN, PROGRESS.prefix())?)
    }
}
