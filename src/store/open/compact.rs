//! Compaction: a snapshot takes the place of the records so far, and what nothing needs any more goes.
//!
//! The same code beside the daemon and without one. The journal is parted at its head; the records up to there are
//! folded once more, and give the snapshot. A fresh index is filled from it, follows what is written meanwhile and takes
//! over in a moment in which nothing is. Then the snapshot is named in the journal, the old segments are put aside, and
//! the vault drops what neither journal nor archive names.
//!
//! Guarantees: nothing that was acknowledged depends on a step being done; a crash at any of them leaves a state that
//! opens as it was, and the next compaction does the rest. Writers wait for the last few records alone.

mod age;
mod archive;
mod catching;
mod sizes;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, Utc};
use tokio::sync::Mutex;

use super::slots::Slots;
use super::{OpenError, State};
use crate::base::hash::Digest;
use crate::model::compacted::Compacted;
use crate::model::record::Record;
use crate::store::disk::Disk;
use crate::store::facts::FOLD_VERSION;
use crate::store::fold::IndexFold;
use crate::store::index::Buffered;
use crate::store::journal::{self, Head, JournalError, Reader};
use crate::store::vault::Vault;
use crate::store::writer::{Commit, Writer};

pub use archive::{Archive, History};
pub use sizes::Sizes;

use catching::Fresh;

/// The fresh index follows the journal until so few records are left.
const LEFT_MAX: u64 = 256;
/// A journal with fewer bytes of records need not be compacted.
const DUE_BYTES_MIN: u64 = 64 << 20;
/// Nor one whose records take less than so many times as much as its snapshot.
const DUE_TIMES: u64 = 2;

/// What a compaction did.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Shorter {
    /// The record that it wrote; none where no record came after the last time.
    pub compacted: Option<Compacted>,
    /// Bytes of the snapshot.
    pub bytes: usize,
    /// Segments that are not in the journal any more.
    pub segments: usize,
    /// Segments that are not in the archive any more.
    pub dropped: usize,
    /// Values that are not in the vault any more.
    pub values: u64,
    /// What the state took before.
    pub before: Sizes,
    /// What it takes now.
    pub after: Sizes,
}

/// Who wants a compaction, and what becomes of the old segments.
#[derive(Debug, Clone)]
pub struct Compacting {
    /// What becomes of the records.
    pub history: History,
    /// When.
    pub at: DateTime<Utc>,
    /// Who.
    pub actor: String,
}

/// Makes a state smaller, whether it is in use or not.
#[derive(Debug)]
pub struct Compactor {
    /// The door for appends.
    pub writer: Arc<Writer<Record, IndexFold>>,
    /// The index in use.
    pub index: Arc<Buffered>,
    /// Where a fresh one is made.
    pub slots: Box<dyn Slots>,
    /// Where the journal is.
    pub journal: Arc<dyn Disk>,
    /// Where the vault is.
    pub vault_disk: Arc<dyn Disk>,
    /// The vault.
    pub vault: Vault,
    /// Where segments are put aside.
    pub archive: Archive,
    /// One compaction at a time, and none once the state is being closed.
    pub turn: Turn,
}

/// Whose turn it is to compact.
#[derive(Debug, Default)]
pub struct Turn {
    alone: Mutex<()>,
    closing: AtomicBool,
}

impl State {
    /// Compacts the state and closes it cleanly.
    pub async fn compact(self, wanted: &Compacting) -> Result<Shorter, OpenError> {
        let done = self.compactor().compact(wanted).await;
        self.close().await?;
        done
    }
}

/// A snapshot that a record names.
struct Named {
    compacted: Compacted,
    bytes: usize,
}

impl Compactor {
    /// Compacts. Reads much and waits for disks: it belongs on a thread that may block.
    pub async fn compact(&self, wanted: &Compacting) -> Result<Shorter, OpenError> {
        let _alone = self.turn.alone.lock().await;
        self.goes_on()?;
        let before = self.sizes()?;
        let named = self.snapshot(wanted).await;
        if named.is_err() {
            // What was made so far takes room; the next compaction begins anew.
            self.slots.discard().unwrap_or_default();
        }
        let named = named?;
        let dropped_first = match wanted.history {
            History::Drop => self.archive.thin(wanted.history, wanted.at)?,
            History::Keep | History::KeepFor(_) => 0,
        };
        self.goes_on()?;
        let segments = self.clear(wanted.history)?;
        let dropped = self.archive.thin(wanted.history, wanted.at)?.saturating_add(dropped_first);
        let values = self.drop_values().await?;
        Ok(Shorter {
            bytes: named.as_ref().map_or(0, |named| named.bytes),
            compacted: named.map(|named| named.compacted),
            segments,
            dropped,
            values,
            before,
            after: self.sizes()?,
        })
    }

    /// Ends a compaction that goes on, at the next step, and lets no other one begin. Waits for it.
    pub(super) async fn end(&self) {
        self.turn.closing.store(true, Ordering::SeqCst);
        drop(self.turn.alone.lock().await);
    }

    /// Whether the records behind the last snapshot take much more than the snapshot does.
    pub fn is_due(&self) -> Result<bool, OpenError> {
        let all = sizes::of(&*self.journal).map_err(unread)?;
        let base = Reader::over(Arc::clone(&self.journal)).base()?;
        let snapshot = base.map_or(Ok(0), |base| self.journal.len(&base.file()));
        let snapshot = snapshot.map_err(unread)?;
        let records = all.saturating_sub(snapshot);
        Ok(records >= DUE_BYTES_MIN && records >= snapshot.saturating_mul(DUE_TIMES))
    }

    /// Refuses to go on once the state is being closed.
    fn goes_on(&self) -> Result<(), OpenError> {
        if self.turn.closing.load(Ordering::SeqCst) { Err(OpenError::Closing) } else { Ok(()) }
    }

    /// What the state takes on disk.
    pub fn sizes(&self) -> Result<Sizes, OpenError> {
        let archive = self.archive.there()?;
        Ok(Sizes {
            journal: sizes::of(&*self.journal).map_err(unread)?,
            archive: archive.map_or(Ok(0), |disk| sizes::of(&*disk)).map_err(unread)?,
            vault: sizes::of(&*self.vault_disk).map_err(unread)?,
            index: self.slots.bytes(),
        })
    }

    /// Puts a snapshot, named by a record, behind all that is known; `None` if no record came after the last one.
    async fn snapshot(&self, wanted: &Compacting) -> Result<Option<Named>, OpenError> {
        let reader = Reader::over(Arc::clone(&self.journal));
        let base = reader.base()?.map_or(Head::EMPTY, |base| base.head);
        if self.writer.head().sequence <= base.sequence.saturating_add(1) {
            return Ok(None);
        }
        let head = self.writer.between(journal::Journal::part).await??;
        let body = Fresh::body(&reader, self.slots.fresh()?, head, &|| self.goes_on())?;
        self.goes_on()?;
        let snapshot = journal::seal(&*self.journal, head, FOLD_VERSION, &body)?;
        let fresh = Fresh::filled(&reader, self.slots.fresh()?, (head, &body))?;
        self.renew(fresh).await?;
        let compacted = Compacted {
            sequence: head.sequence,
            replaces: Digest::from_bytes(head.hash),
            snapshot: Digest::from_bytes(snapshot),
            dropped: wanted.history == History::Drop,
            at: wanted.at,
            actor: wanted.actor.clone(),
        };
        let record = Record::Compacted(Box::new(compacted.clone()));
        self.writer.append(Commit::of(vec![record])).await?;
        Ok(Some(Named { compacted, bytes: body.len() }))
    }

    /// Has the fresh index follow what is written meanwhile, and take over.
    async fn renew(&self, mut fresh: Fresh) -> Result<(), OpenError> {
        loop {
            let head = self.writer.head();
            if head.sequence.saturating_sub(fresh.reached.sequence) <= LEFT_MAX {
                break;
            }
            fresh.follow(head, &|| self.goes_on())?;
        }
        fresh.flush(&self.index)?;
        let used = Arc::clone(&self.index);
        let take_over = move |journal: &mut journal::Journal| {
            fresh.follow(journal.head(), &|| Ok(()))?;
            fresh.take_over(&used)
        };
        let before: Result<_, OpenError> = self.writer.between(take_over).await?;
        drop(before?);
        Ok(self.slots.taken()?)
    }

    /// Puts aside what stands before the newest snapshot that a record names.
    fn clear(&self, history: History) -> Result<usize, OpenError> {
        let reader = Reader::over(Arc::clone(&self.journal));
        let durable = self.writer.head().sequence;
        let Some(head) = super::base::newest_named(&reader, durable)? else { return Ok(0) };
        if reader.first()?.is_none_or(|first| first > head.sequence) {
            return Ok(0);
        }
        let archive = match history {
            History::Keep | History::KeepFor(_) => Some(self.archive.made()?),
            History::Drop => None,
        };
        Ok(journal::put_aside(&*self.journal, head, archive.as_deref())?)
    }

    /// Drops the values of the vault that nothing names any more.
    async fn drop_values(&self) -> Result<u64, OpenError> {
        let mut survey = self.vault.survey()?;
        // Records that name the values of the survey are on the way to the disk at most: behind this they are there.
        self.writer.append(Commit::of(Vec::new())).await?;
        let archive = self.archive.there()?;
        self.goes_on()?;
        for disk in [Some(Arc::clone(&self.journal)), archive].into_iter().flatten() {
            Reader::over(disk).each_file(|bytes| {
                survey.named.begin();
                survey.named.read(bytes);
            })?;
        }
        Ok(self.vault.drop_unnamed(&survey)?)
    }
}

/// The size of a file is not known.
fn unread(source: std::io::Error) -> OpenError {
    JournalError::io("read", "", source).into()
}

#[cfg(test)]
mod tests;
