//! Compaction: replaces the records so far by a snapshot, and removes data that is no longer
//! needed. The archive keeps the replaced segments, each while any of its records, or of its
//! evidence about money, is young enough.
//!
//! The same code runs beside the daemon and without it:
//!
//! 1. The journal ends its segment at the head. The records up to there are folded once more, and
//!    give the snapshot.
//! 2. A fresh index is filled from the snapshot, follows the new records, and replaces the index in
//!    use between two commits.
//! 3. A record names the snapshot, the old segments are archived or dropped, and the vault drops
//!    the values that neither journal nor archive names.
//!
//! Guarantees: nothing that was acknowledged depends on any step. A crash at any step leaves a
//! state that opens as it was, and the next compaction does the rest. Writers wait only for the
//! last few records.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::base::hash::Digest;
use crate::base::id::IntentId;
use crate::model::record::Record;
use crate::model::state::lifecycle::Compacted;
use crate::store::disk::directory::RealDisk;
use crate::store::disk::traits::Disk;
use crate::store::error::{OpenError, OpenResult};
use crate::store::index::buffered::BufferedIndex;
use crate::store::journal::chain::{Head, JournalError};
use crate::store::journal::read::JournalReader;
use crate::store::journal::{files, log};
use crate::store::projection::fold::StateWriter;
use crate::store::read_model::resources::FOLD_VERSION;
use crate::store::state::index::IndexSlots;
use crate::store::state::snapshot::{FreshIndex, newest_named};
use crate::store::vault::values::Vault;
use crate::store::writer::core::{Commit, decoded};

/// The fresh index follows the journal until at most this number of records is left.
const LEFT_MAX: u64 = 256;
/// A journal with fewer bytes of records is not due for compaction.
const DUE_BYTES_MIN: u64 = 64 << 20;
/// Records must take at least this many times the bytes of the snapshot.
const DUE_TIMES: u64 = 2;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionResult {
    /// The record that names the snapshot; `None` if no record followed the last compaction.
    pub compacted: Option<Compacted>,
    pub bytes: usize,
    pub segments: usize,
    pub dropped: usize,
    pub values: u64,
    pub before: Sizes,
    pub after: Sizes,
}

#[derive(Debug, Clone)]
pub struct CompactionRequest {
    pub history: ArchivePolicy,
    pub at: DateTime<Utc>,
    pub actor: String,
}

#[derive(Debug)]
pub struct Compactor {
    pub writer: Arc<StateWriter>,
    pub index: Arc<BufferedIndex>,
    pub slots: Box<dyn IndexSlots>,
    pub journal: Arc<dyn Disk>,
    pub vault_disk: Arc<dyn Disk>,
    pub vault: Vault,
    pub archive: Archive,
    /// Allows one compaction at a time, and none once the state is being closed.
    pub turn: CompactionLock,
}

#[derive(Debug, Default)]
pub struct CompactionLock {
    alone: Mutex<()>,
    closing: AtomicBool,
}

impl Compactor {
    /// Compacts the state. It reads much and waits for disks: give it a thread that may block.
    pub async fn compact(&self, wanted: &CompactionRequest) -> OpenResult<CompactionResult> {
        let _alone = self.turn.alone.lock().await;
        self.check_open()?;
        let before = self.sizes()?;
        let named = self.snapshot(wanted).await;
        if named.is_err() {
            // A partial index only takes room; the next compaction begins anew.
            self.slots.discard().unwrap_or_default();
        }
        let named = named?;
        let earlier = match wanted.history {
            ArchivePolicy::Drop => self.archive.drop_expired(wanted.history, wanted.at)?,
            ArchivePolicy::Keep | ArchivePolicy::KeepFor(_) => 0,
        };
        self.check_open()?;
        let segments = self.archive_old_segments(wanted.history)?;
        let dropped = self.archive.drop_expired(wanted.history, wanted.at)?.saturating_add(earlier);
        let values = self.drop_values().await?;
        let (compacted, bytes) = named.unzip();
        let (bytes, after) = (bytes.unwrap_or_default(), self.sizes()?);
        Ok(CompactionResult { compacted, bytes, segments, dropped, values, before, after })
    }

    /// Ends a running compaction at its next step, prevents any other, and waits for the end.
    pub(crate) async fn stop(&self) {
        self.turn.closing.store(true, Ordering::SeqCst);
        drop(self.turn.alone.lock().await);
    }

    /// Returns true if the records behind the last snapshot take much more room than the snapshot.
    pub fn is_due(&self) -> OpenResult<bool> {
        let all = bytes_on_disk(&*self.journal).map_err(size_error)?;
        let base = JournalReader::over(Arc::clone(&self.journal)).base()?;
        let snapshot = base.map_or(Ok(0), |base| self.journal.len(&base.file()));
        let snapshot = snapshot.map_err(size_error)?;
        let records = all.saturating_sub(snapshot);
        Ok(records >= DUE_BYTES_MIN && records >= snapshot.saturating_mul(DUE_TIMES))
    }

    fn check_open(&self) -> OpenResult {
        if self.turn.closing.load(Ordering::SeqCst) { Err(OpenError::Closing) } else { Ok(()) }
    }

    pub fn sizes(&self) -> OpenResult<Sizes> {
        let archive = self.archive.open_existing()?;
        Ok(Sizes {
            journal: bytes_on_disk(&*self.journal).map_err(size_error)?,
            archive: archive.map_or(Ok(0), |disk| bytes_on_disk(&*disk)).map_err(size_error)?,
            vault: bytes_on_disk(&*self.vault_disk).map_err(size_error)?,
            index: self.slots.bytes(),
        })
    }

    /// Writes a snapshot of the present state, and a record that names it. Returns the record and
    /// the bytes of the snapshot; `None` if no record followed the last snapshot.
    async fn snapshot(&self, wanted: &CompactionRequest) -> OpenResult<Option<(Compacted, usize)>> {
        let reader = JournalReader::over(Arc::clone(&self.journal));
        let base = reader.base()?.map_or(Head::EMPTY, |base| base.head);
        if self.writer.head().sequence <= base.sequence.saturating_add(1) {
            return Ok(None);
        }
        let head = self.writer.with_journal(log::Journal::end_segment).await??;
        let body =
            FreshIndex::snapshot_body(&reader, self.slots.create()?, head, &|| self.check_open())?;
        self.check_open()?;
        let snapshot = files::write_snapshot(&*self.journal, head, FOLD_VERSION, &body)?;
        let fresh = FreshIndex::from_snapshot(&reader, self.slots.create()?, (head, &body))?;
        self.switch_index(fresh).await?;
        let (replaces, snapshot) = (Digest::from_bytes(head.hash), Digest::from_bytes(snapshot));
        let dropped = wanted.history == ArchivePolicy::Drop;
        let (sequence, at, actor) = (head.sequence, wanted.at, wanted.actor.clone());
        let compacted = Compacted { sequence, replaces, snapshot, dropped, at, actor };
        let record = Record::Compacted(Box::new(compacted.clone()));
        self.writer.append(Commit::of(vec![record])).await?;
        Ok(Some((compacted, body.len())))
    }

    /// Makes the fresh index follow new records, and replace the index in use.
    async fn switch_index(&self, mut fresh: FreshIndex) -> OpenResult {
        loop {
            let head = self.writer.head();
            if head.sequence.saturating_sub(fresh.reached.sequence) <= LEFT_MAX {
                break;
            }
            fresh.catch_up(head, &|| self.check_open())?;
        }
        fresh.flush(&self.index)?;
        let used = Arc::clone(&self.index);
        let take_over = move |journal: &mut log::Journal| {
            fresh.catch_up(journal.head(), &|| Ok(()))?;
            fresh.take_over(&used)
        };
        let before: OpenResult<_> = self.writer.with_journal(take_over).await?;
        drop(before?);
        Ok(self.slots.switch()?)
    }

    /// Archives or drops the segments before the newest snapshot that a record names.
    fn archive_old_segments(&self, history: ArchivePolicy) -> OpenResult<usize> {
        let reader = JournalReader::over(Arc::clone(&self.journal));
        let Some(head) = newest_named(&reader, self.writer.head().sequence)? else { return Ok(0) };
        if reader.first()?.is_none_or(|first| first > head.sequence) {
            return Ok(0);
        }
        let archive = match history {
            ArchivePolicy::Keep | ArchivePolicy::KeepFor(_) => Some(self.archive.open_or_create()?),
            ArchivePolicy::Drop => None,
        };
        Ok(files::archive_segments(&*self.journal, head, archive.as_deref())?)
    }

    /// Drops the values of the vault that no record names any more.
    async fn drop_values(&self) -> OpenResult<u64> {
        let mut survey = self.vault.survey()?;
        // Records that name values of the survey may still be on their way to the disk; behind this
        // append they are there.
        self.writer.append(Commit::of(Vec::new())).await?;
        let archive = self.archive.open_existing()?;
        self.check_open()?;
        for disk in [Some(Arc::clone(&self.journal)), archive].into_iter().flatten() {
            JournalReader::over(disk).each_file(|bytes| {
                survey.named.restart();
                survey.named.read(bytes);
            })?;
        }
        Ok(self.vault.drop_unnamed(&survey)?)
    }
}

fn size_error(source: std::io::Error) -> OpenError {
    JournalError::io("read", "")(source).into()
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sizes {
    /// Snapshot and records in use.
    pub journal: u64,
    pub archive: u64,
    /// Sealed values and their keys.
    pub vault: u64,
    pub index: u64,
}

impl Sizes {
    pub fn total(&self) -> u64 {
        [self.archive, self.vault, self.index].into_iter().fold(self.journal, u64::saturating_add)
    }
}

/// Returns the bytes of the files on a disk. A file that is removed meanwhile does not count.
fn bytes_on_disk(disk: &dyn Disk) -> std::io::Result<u64> {
    let lengths = disk.list()?.into_iter().filter_map(|file| disk.len(&file).ok());
    Ok(lengths.fold(0, u64::saturating_add))
}

/// Treatment of the records that a snapshot replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArchivePolicy {
    /// The records are archived.
    Keep,
    /// The records are archived. A segment is dropped once all of it is this old, in seconds.
    KeepFor(i64),
    /// The records are dropped, and so is the present archive.
    Drop,
}

/// Place of archived segments; created with the first one.
#[derive(Debug)]
pub struct Archive {
    dir: PathBuf,
    disk: OnceLock<Arc<dyn Disk>>,
}

impl Archive {
    /// Returns the archive in this folder, which need not exist.
    pub fn in_folder(dir: PathBuf) -> Self {
        Self { dir, disk: OnceLock::new() }
    }

    pub fn over(disk: Arc<dyn Disk>) -> Self {
        Self { dir: PathBuf::new(), disk: OnceLock::from(disk) }
    }

    fn open_existing(&self) -> OpenResult<Option<Arc<dyn Disk>>> {
        if self.disk.get().is_none() && !self.dir.is_dir() {
            return Ok(None);
        }
        self.open_or_create().map(Some)
    }

    fn open_or_create(&self) -> OpenResult<Arc<dyn Disk>> {
        if let Some(disk) = self.disk.get() {
            return Ok(Arc::clone(disk));
        }
        let opened = RealDisk::open(&self.dir);
        let opened = opened.map_err(|source| OpenError::Io { dir: self.dir.clone(), source })?;
        Ok(Arc::clone(self.disk.get_or_init(|| Arc::new(opened))))
    }

    /// Drops the segments that `history` no longer keeps, oldest first, so that the rest has no
    /// gap; returns their number.
    fn drop_expired(&self, history: ArchivePolicy, now: DateTime<Utc>) -> OpenResult<usize> {
        let Some(disk) = self.open_existing()? else { return Ok(0) };
        let reader = JournalReader::over(Arc::clone(&disk));
        let segments = reader.segments()?;
        let mut dropped = 0_usize;
        let mut money = BTreeSet::new();
        // The newest segment ends where its records end.
        let ends = segments.iter().skip(1).map(|next| next.saturating_sub(1)).chain([u64::MAX]);
        for (first, last) in segments.iter().copied().zip(ends) {
            if !is_expired(&reader, (first, last), (history, now), &mut money)? {
                break;
            }
            files::remove_segment(&*disk, first)?;
            dropped = dropped.saturating_add(1);
        }
        Ok(dropped)
    }
}

/// Returns true if nothing in a segment must be kept.
fn is_expired(
    reader: &JournalReader,
    (first, last): (u64, u64),
    (history, now): (ArchivePolicy, DateTime<Utc>),
    money: &mut BTreeSet<IntentId>,
) -> OpenResult<bool> {
    let keep = match history {
        ArchivePolicy::Keep => return Ok(false),
        ArchivePolicy::Drop => return Ok(true),
        ArchivePolicy::KeepFor(age) => TimeDelta::try_seconds(age).unwrap_or(TimeDelta::MAX),
    };
    let mut age = SegmentAge::default();
    for record in decoded(reader.segment_records(first, last)?) {
        age.note(&record?.1, money);
    }
    Ok(age.is_expired(keep, now))
}

/// Minimum age of approvals and of intents that move money before they are dropped: six months.
const EVIDENCE: TimeDelta = TimeDelta::days(184);

/// The newest times that records name.
#[derive(Debug, Default)]
pub(crate) struct SegmentAge {
    newest: Option<DateTime<Utc>>,
    /// The newest time among evidence.
    evidence: Option<DateTime<Utc>>,
}

impl SegmentAge {
    /// Notes a record. `money` holds the intents so far that move money.
    pub(crate) fn note(&mut self, record: &Record, money: &mut BTreeSet<IntentId>) {
        let at = record.time();
        self.newest = self.newest.max(at);
        if let Record::Intent(intent) = record
            && !intent.exposure.moves.is_empty()
        {
            money.insert(intent.id);
        }
        let is_evidence = matches!(record, Record::Approval(_) | Record::PlanApproval(_))
            || record.intent_id().is_some_and(|id| money.contains(&id));
        if is_evidence {
            self.evidence = self.evidence.max(at);
        }
    }

    /// Returns true if all records are older than `keep`, and all evidence is also older than six
    /// months. A segment without any time is kept.
    fn is_expired(&self, keep: TimeDelta, now: DateTime<Utc>) -> bool {
        let older = |at: DateTime<Utc>, than: TimeDelta| {
            now.checked_sub_signed(than).is_some_and(|horizon| at < horizon)
        };
        let evidence = self.evidence.is_none_or(|at| older(at, keep.max(EVIDENCE)));
        self.newest.is_some_and(|at| older(at, keep)) && evidence
    }
}
