//! The steps of a commit, the same for both forms of the writer, with the values around them: commits,
//! the fold that applies them, its notes of changed resources (their owner reads these again, so no
//! copy depends on the writer of a record), and the durations of syncs.

use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::oneshot;
use tokio::task::yield_now;
use tokio::time::Instant;

use crate::base::fault_injection;
use crate::base::histogram::DurationHistogram;
use crate::base::id::Key;
use crate::model::record::Record;
use crate::store::disk::traits::to_u64;
use crate::store::error::{StoreError, StoreResult};
use crate::store::journal::chain::{Head, JournalRecord, JournalResult};
use crate::store::journal::log::{BODY_BYTES_MAX, Journal};
use crate::store::vault::keys::SealedValue;
use crate::store::vault::values::Vault;

struct CommitGroup<R> {
    blobs: Vec<SealedValue>,
    bodies: Vec<Vec<u8>>,
    records: Vec<R>,
}

pub(crate) struct PendingCommit<R> {
    content: CommitGroup<R>,
    answer: oneshot::Sender<StoreResult<u64>>,
    when: AckPoint,
}

/// A function that runs on the journal between two commits.
pub(crate) type JournalAction = Box<dyn FnOnce(&mut Journal) + Send>;

pub(crate) enum WriterTask<R> {
    Commit(PendingCommit<R>),
    Act(JournalAction),
}

/// From this number of records on, callers that need only durability do not wait for the fold. A
/// shorter fold ends before acknowledged callers send their next commits: acknowledging them first
/// would only split the next group, and each group has a sync.
const FOLD_LONG: usize = 32;

/// The step after which the caller of a commit is acknowledged, at the latest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AckPoint {
    Durable,
    Folded,
}

impl<R: Serialize> PendingCommit<R> {
    pub(crate) fn new(
        commit: Commit<R>,
        when: AckPoint,
    ) -> StoreResult<(Self, oneshot::Receiver<StoreResult<u64>>)> {
        let Commit { blobs, records } = commit;
        let bodies = records.iter().map(encode).collect::<Result<_, _>>()?;
        let (answer, waiter) = oneshot::channel();
        Ok((Self { content: CommitGroup { blobs, bodies, records }, answer, when }, waiter))
    }
}

pub(crate) fn encode<R: Serialize>(record: &R) -> StoreResult<Vec<u8>> {
    let mut body = Vec::new();
    ciborium::into_writer(record, &mut body)
        .map_err(|error| StoreError::Encode { why: error.to_string() })?;
    if body.len() > BODY_BYTES_MAX {
        return Err(StoreError::TooLarge { bytes: body.len(), limit: BODY_BYTES_MAX });
    }
    Ok(body)
}

struct Waiter {
    answer: oneshot::Sender<StoreResult<u64>>,
    last: u64,
    when: AckPoint,
}

pub(crate) struct WriterCore<R, F> {
    journal: Journal,
    vault: Vault,
    fold: F,
    /// Written and not folded yet. Survives a caller that is dropped in between.
    unfolded: Vec<(u64, R)>,
    waiters: Vec<Waiter>,
    accepted: u64,
    failed: Option<Arc<str>>,
    pub(crate) head: Arc<Mutex<Head>>,
    pub(crate) syncs: Arc<Syncs>,
    /// True if something leaves the process after the next sync.
    leaving: bool,
}

impl<R: Clone, F: Fold<R>> WriterCore<R, F> {
    pub(crate) fn new(journal: Journal, vault: Vault, fold: F) -> Self {
        Self {
            accepted: journal.head().sequence,
            head: Arc::new(Mutex::new(journal.head())),
            journal,
            vault,
            fold,
            unfolded: Vec::new(),
            waiters: Vec::new(),
            failed: None,
            syncs: Arc::new(Syncs::new(SYNC_BOUNDS_US)),
            leaving: false,
        }
    }

    /// Does the waiting work in order: successive commits form one group.
    pub(crate) fn work(&mut self, waiting: Vec<WriterTask<R>>) {
        let mut jobs = Vec::new();
        for work in waiting {
            match work {
                WriterTask::Commit(job) => jobs.push(job),
                WriterTask::Act(act) => {
                    self.commit(std::mem::take(&mut jobs));
                    // After a failed step the function is dropped, and its caller gets no result.
                    if self.failed.is_none() {
                        act(&mut self.journal);
                    }
                }
            }
        }
        if !jobs.is_empty() {
            self.commit(jobs);
        }
    }

    /// Takes a group through all steps.
    pub(crate) fn commit(&mut self, jobs: Vec<PendingCommit<R>>) {
        let group = self.accept(jobs);
        self.step(|core| core.write(group));
        self.step(Self::sync);
        if self.unfolded.len() >= FOLD_LONG {
            self.answer(AckPoint::Durable);
        }
        self.step(Self::fold);
        self.answer(AckPoint::Folded);
    }

    /// Takes one commit through all steps, with a yield before each.
    pub(crate) async fn commit_slowly(&mut self, job: PendingCommit<R>) {
        yield_now().await;
        let group = self.accept(vec![job]);
        self.step(|core| core.write(group));
        if fault_injection::is_active("fold-reads-unsynced") {
            self.step(Self::fold);
            self.answer(AckPoint::Folded);
        }
        yield_now().await;
        self.step(Self::sync);
        self.answer(AckPoint::Durable);
        yield_now().await;
        self.step(Self::fold);
        self.answer(AckPoint::Folded);
    }

    pub(crate) fn finish(mut self) -> WriterParts<F> {
        self.commit(Vec::new());
        WriterParts { journal: self.journal, vault: self.vault, fold: self.fold }
    }

    /// Takes one step, unless an earlier one failed.
    fn step(&mut self, step: impl FnOnce(&mut Self) -> StoreResult) {
        if self.failed.is_some() {
            return;
        }
        if let Err(error) = step(self) {
            self.failed = Some(error.to_string().into());
        }
    }

    /// Merges jobs into a group. Their callers are registered before any step can fail.
    fn accept(&mut self, jobs: Vec<PendingCommit<R>>) -> CommitGroup<R> {
        let mut group = CommitGroup { blobs: Vec::new(), bodies: Vec::new(), records: Vec::new() };
        for PendingCommit { content, answer, when } in jobs {
            self.accepted = self.accepted.saturating_add(to_u64(content.bodies.len()));
            self.waiters.push(Waiter { answer, last: self.accepted, when });
            group.blobs.extend(content.blobs);
            group.bodies.extend(content.bodies);
            self.leaving |= content.records.iter().any(|record| self.fold.sends_effect(record));
            group.records.extend(content.records);
        }
        group
    }

    /// Makes the sealed values durable, then writes all records as one batch.
    fn write(&mut self, group: CommitGroup<R>) -> StoreResult {
        let CommitGroup { blobs, bodies, records } = group;
        if !blobs.is_empty() {
            self.vault.write(&blobs)?;
            self.vault.sync()?;
        }
        let sequences = self.journal.append(&bodies)?;
        debug_assert_eq!(sequences.end, self.accepted.saturating_add(1), "sequences are in step");
        self.unfolded.extend(sequences.zip(records));
        Ok(())
    }

    fn sync(&mut self) -> StoreResult {
        let begun = Instant::now();
        self.journal.sync()?;
        self.syncs.record(begun.elapsed());
        if std::mem::take(&mut self.leaving) {
            self.journal.sync_mark()?;
        }
        Ok(())
    }

    fn fold(&mut self) -> StoreResult {
        let head = if fault_injection::is_active("fold-reads-unsynced") {
            self.journal.written.head
        } else {
            self.journal.head()
        };
        if !self.unfolded.is_empty() {
            self.fold.apply(&self.unfolded, head)?;
            self.unfolded.clear();
        }
        *self.head.lock() = head;
        Ok(())
    }

    /// Acknowledges the callers that wait for this step at most; some may have been dropped.
    fn answer(&mut self, reached: AckPoint) {
        let done = |waiter: &mut Waiter| reached == AckPoint::Folded || waiter.when == reached;
        for Waiter { answer, last, when: _ } in self.waiters.extract_if(.., done) {
            let failed = self.failed.clone();
            drop(answer.send(failed.map_or(Ok(last), |cause| Err(StoreError::Failed { cause }))));
        }
    }
}

pub fn decode(sequence: u64, body: &[u8]) -> StoreResult<Record> {
    cbor4ii::serde::from_slice(body)
        .map_err(|error| StoreError::Decode { sequence, why: error.to_string() })
}

pub(crate) fn decoded(
    records: impl Iterator<Item = JournalResult<JournalRecord>>,
) -> impl Iterator<Item = StoreResult<(Head, Record)>> {
    records.map(|record| {
        let record = record?;
        Ok((record.head(), decode(record.sequence, &record.body)?))
    })
}

/// Records and sealed values that a caller appends together.
#[derive(Debug, Clone)]
pub struct Commit<R> {
    /// Values that the records refer to; durable before them.
    pub blobs: Vec<SealedValue>,
    pub records: Vec<R>,
}

impl<R> Commit<R> {
    pub fn of(records: Vec<R>) -> Self {
        Self { blobs: Vec::new(), records }
    }
}

/// Folds durable records into the index.
pub trait Fold<R>: Send {
    /// Applies records in order, in one transaction of the index with `head`, the last of them.
    fn apply(&mut self, batch: &[(u64, R)], head: Head) -> StoreResult;

    /// Returns true if something leaves the process once this record is durable: then the journal's
    /// mark is made durable before the caller is acknowledged.
    fn sends_effect(&self, _record: &R) -> bool {
        false
    }

    fn changed_resources(&self) -> ChangedResources {
        ChangedResources::default()
    }
}

#[derive(Debug)]
pub struct WriterParts<F> {
    /// The journal; everything in it is durable.
    pub journal: Journal,
    pub vault: Vault,
    /// The fold; it includes the whole journal, unless a write failed.
    pub fold: F,
}

/// The upper bounds of the classes of syncs, in microseconds.
const SYNC_BOUNDS_US: [u64; 8] = [100, 250, 500, 1_000, 5_000, 25_000, 100_000, 1_000_000];

/// Durations of the journal's syncs since the process began.
pub type Syncs = DurationHistogram<8>;

/// The notes. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct ChangedResources(Arc<Mutex<BTreeSet<Key>>>);

impl ChangedResources {
    pub(crate) fn note(&self, keys: impl IntoIterator<Item = Key>) {
        self.0.lock().extend(keys);
    }

    pub fn take(&self) -> BTreeSet<Key> {
        std::mem::take(&mut *self.0.lock())
    }

    /// Removes the note of one resource, which is about to be read again.
    pub fn forget(&self, key: &Key) {
        self.0.lock().remove(key);
    }
}
