//! A fresh index, built from the snapshot and the records of the journal while the old one is in
//! use.

use std::sync::Arc;

use super::super::assemble::{BATCH_RECORDS_MAX, decode};
use super::super::base;
use crate::store::index::buffered::BufferedIndex;
use crate::store::index::ordered::Index;
use crate::store::journal::error::JournalError;
use crate::store::journal::log::Head;
use crate::store::journal::read::JournalReader;
use crate::store::projection::fold::IndexFold;
use crate::store::read_model::model::{PROGRESS, ReadModel};
use crate::store::state::open::OpenError;
use crate::store::writer::handle::Fold;

/// Prefix of the index's own marks and of values that are no part of the state.
const OWN: &[u8] = b"x/";

/// Check to go on; an error ends the work.
type CheckOpen<'a> = &'a dyn Fn() -> Result<(), OpenError>;

/// An index under construction.
#[derive(Debug)]
pub(super) struct FreshIndex {
    journal: JournalReader,
    behind: Arc<dyn Index>,
    index: Arc<BufferedIndex>,
    fold: IndexFold,
    /// The last record that was folded.
    pub(super) reached: Head,
}

impl FreshIndex {
    /// Returns the body of a snapshot behind this record, which must be durable. The records are
    /// folded in an empty scratch index, which is then removed: its files also hold entries that
    /// were put and removed again.
    pub(super) fn snapshot_body(
        journal: &JournalReader,
        scratch: Arc<dyn Index>,
        head: Head,
        goes_on: CheckOpen<'_>,
    ) -> Result<Vec<u8>, OpenError> {
        let mut reached = Head::EMPTY;
        if let Some(base) = journal.base()? {
            base::load_from(journal, &base, head.sequence, &*scratch)?;
            reached = base.head;
        }
        let mut fresh = Self::over(journal, scratch, reached);
        fresh.catch_up(head, goes_on)?;
        base::body(&*fresh.index)
    }

    /// Creates an index that holds exactly the body of the snapshot behind this record.
    pub(super) fn from_snapshot(
        journal: &JournalReader,
        empty: Arc<dyn Index>,
        (head, body): (Head, &[u8]),
    ) -> Result<Self, OpenError> {
        base::fill(&*empty, head, body)?;
        base::mark(&*empty, head)?;
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
    pub(super) fn catch_up(&mut self, head: Head, goes_on: CheckOpen<'_>) -> Result<(), OpenError> {
        let mut batch = Vec::new();
        for record in self.journal.records(self.reached.sequence.saturating_add(1), head.sequence) {
            let record = record?;
            self.reached = Head { sequence: record.sequence, hash: record.hash };
            batch.push((record.sequence, decode(record.sequence, &record.body)?));
            if batch.len() >= BATCH_RECORDS_MAX {
                goes_on()?;
                self.fold.apply(&std::mem::take(&mut batch), self.reached)?;
            }
        }
        if !batch.is_empty() {
            self.fold.apply(&batch, self.reached)?;
        }
        if self.reached == head {
            return Ok(());
        }
        Err(JournalError::Forgotten { known: head, found: self.reached }.into())
    }

    /// Makes the index durable so far, with the marks of the index in use.
    pub(super) fn flush(&self, used: &BufferedIndex) -> Result<(), OpenError> {
        let mut own = crate::store::index::ordered::Batch::new();
        for (key, value) in used.scan(OWN)?.into_iter().filter(|(key, _)| key != PROGRESS) {
            own.put(key, value);
        }
        self.index.apply(own)?;
        Ok(self.index.flush()?)
    }

    /// Replaces the index in use, which must have folded the same records; returns the former one.
    pub(super) fn take_over(self, used: &BufferedIndex) -> Result<Arc<dyn Index>, OpenError> {
        let (ours, theirs) = (ReadModel::progress_of(&*self.index)?, ReadModel::progress_of(used)?);
        if ours != theirs {
            let known = theirs
                .map_or(Head::EMPTY, |mark| Head { sequence: mark.sequence, hash: mark.hash });
            return Err(JournalError::Forgotten { known, found: self.reached }.into());
        }
        self.index.pass_on()?;
        Ok(used.exchange(self.behind, OWN, PROGRESS)?)
    }
}
