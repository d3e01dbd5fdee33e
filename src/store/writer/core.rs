//! The steps of a commit, the same for both forms of the writer.

use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::oneshot;
use tokio::task::yield_now;
use tokio::time::Instant;

use super::parts::Syncs;
use crate::base::fault_injection;
use crate::model::record::Record;
use crate::store::disk::bytes::to_u64;
use crate::store::error::StoreError;
use crate::store::journal::chain::Head;
use crate::store::journal::log::{BODY_BYTES_MAX, Journal};
use crate::store::vault::blob::SealedValue;
use crate::store::vault::values::Vault;
use crate::store::writer::parts::{Commit, Fold, WriterParts};

/// One pending commit, encoded by its caller.
pub(crate) struct PendingCommit<R> {
    blobs: Vec<SealedValue>,
    bodies: Vec<Vec<u8>>,
    records: Vec<R>,
    answer: oneshot::Sender<Result<u64, StoreError>>,
    when: AckPoint,
}

/// A function that runs on the journal between two commits.
pub(crate) type JournalAction = Box<dyn FnOnce(&mut Journal) + Send>;

/// Work that waits for the writer.
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

pub(crate) type AckReceiver = oneshot::Receiver<Result<u64, StoreError>>;

impl<R: Serialize> PendingCommit<R> {
    pub(crate) fn new(
        commit: Commit<R>,
        when: AckPoint,
    ) -> Result<(Self, AckReceiver), StoreError> {
        let Commit { blobs, records } = commit;
        let bodies = records.iter().map(encode).collect::<Result<_, _>>()?;
        let (answer, waiter) = oneshot::channel();
        Ok((Self { blobs, bodies, records, answer, when }, waiter))
    }
}

pub(in crate::store) fn encode<R: Serialize>(record: &R) -> Result<Vec<u8>, StoreError> {
    let mut body = Vec::new();
    ciborium::into_writer(record, &mut body)
        .map_err(|error| StoreError::Encode { why: error.to_string() })?;
    if body.len() > BODY_BYTES_MAX {
        return Err(StoreError::TooLarge { bytes: body.len(), limit: BODY_BYTES_MAX });
    }
    Ok(body)
}

/// The combined content of several commits.
struct CommitGroup<R> {
    blobs: Vec<SealedValue>,
    bodies: Vec<Vec<u8>>,
    records: Vec<R>,
}

/// A waiting caller, with its result.
struct Waiter {
    answer: oneshot::Sender<Result<u64, StoreError>>,
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
    /// The sequence of the last record accepted.
    accepted: u64,
    failed: Option<Arc<str>>,
    head: Arc<Mutex<Head>>,
    syncs: Arc<Syncs>,
    /// True if something leaves the process after the next sync.
    leaving: bool,
}

impl<R: Clone, F: Fold<R>> WriterCore<R, F> {
    pub(crate) fn new(journal: Journal, vault: Vault, fold: F) -> (Self, Arc<Mutex<Head>>) {
        let head = Arc::new(Mutex::new(journal.head()));
        let shared = Arc::clone(&head);
        let core = Self {
            accepted: journal.head().sequence,
            journal,
            vault,
            fold,
            unfolded: Vec::new(),
            waiters: Vec::new(),
            failed: None,
            head,
            syncs: Arc::default(),
            leaving: false,
        };
        (core, shared)
    }

    /// Does the waiting work in order: successive commits form one group.
    pub(crate) fn work(&mut self, waiting: Vec<WriterTask<R>>) {
        let mut jobs = Vec::new();
        for work in waiting {
            match work {
                WriterTask::Commit(job) => jobs.push(job),
                WriterTask::Act(act) => {
                    self.commit(std::mem::take(&mut jobs));
                    self.act(act);
                }
            }
        }
        if !jobs.is_empty() {
            self.commit(jobs);
        }
    }

    /// Runs a function on the journal. After a failed step it is dropped, and its caller gets no
    /// result.
    fn act(&mut self, act: JournalAction) {
        if self.failed.is_none() {
            act(&mut self.journal);
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
    fn step(&mut self, step: impl FnOnce(&mut Self) -> Result<(), StoreError>) {
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
        for PendingCommit { blobs, bodies, records, answer, when } in jobs {
            self.accepted = self.accepted.saturating_add(to_u64(bodies.len()));
            self.waiters.push(Waiter { answer, last: self.accepted, when });
            group.blobs.extend(blobs);
            group.bodies.extend(bodies);
            self.leaving |= records.iter().any(|record| self.fold.sends_effect(record));
            group.records.extend(records);
        }
        group
    }

    /// Makes the sealed values durable, then writes all records as one batch.
    fn write(&mut self, group: CommitGroup<R>) -> Result<(), StoreError> {
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

    pub(crate) fn syncs(&self) -> Arc<Syncs> {
        Arc::clone(&self.syncs)
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        let begun = Instant::now();
        self.journal.sync()?;
        self.syncs.record(begun.elapsed());
        if std::mem::take(&mut self.leaving) {
            self.journal.sync_mark()?;
        }
        Ok(())
    }

    fn fold(&mut self) -> Result<(), StoreError> {
        let head = if fault_injection::is_active("fold-reads-unsynced") {
            self.journal.written_head()
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

    /// Acknowledges the callers that wait for this step at most. A caller that was dropped is not
    /// an error.
    fn answer(&mut self, reached: AckPoint) {
        let done = |waiter: &mut Waiter| reached == AckPoint::Folded || waiter.when == reached;
        for Waiter { answer, last, when: _ } in self.waiters.extract_if(.., done) {
            let result = match &self.failed {
                Some(cause) => Err(StoreError::Failed { cause: Arc::clone(cause) }),
                None => Ok(last),
            };
            drop(answer.send(result));
        }
    }
}

/// Decodes one record of the journal.
pub fn decode(sequence: u64, body: &[u8]) -> Result<Record, StoreError> {
    ciborium::from_reader(body)
        .map_err(|error| StoreError::Decode { sequence, why: error.to_string() })
}
