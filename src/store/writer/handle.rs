//! Appends to the store: vault, journal, fold, acknowledgement, in this order.
//!
//! Why it exists: law 1 in one place, and one sync for all waiting commits (group commit).
//!
//! Guarantees: an acknowledged commit is durable and folded, so that its caller reads its own
//! writes; a caller of [`Writer::append_durable`] may be acknowledged once it is durable. Commits take effect
//! in the order in which they were accepted. After any failure nothing more is accepted, and no
//! waiting caller gets a success.
//! Assumptions: a crash may keep the first records of a commit that was never acknowledged and lose
//! the rest. So facts that must not be separated belong in one record.
//!
//! The same code runs in two forms: on a thread of its own for production, and inside the caller's
//! future for the simulator, which stops it at each yield.

#[cfg(test)]
mod tests;

use std::future::Future;
use std::sync::Arc;
use std::{mem, thread};

use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::{Mutex as AsyncMutex, mpsc, oneshot};

use crate::store::error::{StoreError, StoreResult};
use crate::store::journal::chain::Head;
use crate::store::journal::log::Journal;
use crate::store::vault::values::Vault;
use crate::store::writer::core::{
    AckPoint, ChangedResources, Commit, Fold, JournalAction, PendingCommit, Syncs, WriterCore,
    WriterParts, WriterTask,
};

/// Commits that wait for the writer; more callers wait for a place.
const QUEUE_MAX: usize = 1024;
/// Commits made durable by one sync.
const GROUP_MAX: usize = 1024;

/// The writer. Share it behind an `Arc`.
#[derive(derive_more::Debug)]
#[debug("Writer({head:?})")]
pub struct Writer<R, F> {
    form: WriterForm<R, F>,
    head: Arc<Mutex<Head>>,
    syncs: Arc<Syncs>,
    changed: ChangedResources,
}

enum WriterForm<R, F> {
    Thread(WriterThread<R, F>),
    Inline(Box<AsyncMutex<Option<WriterCore<R, F>>>>),
}

struct WriterThread<R, F> {
    /// `None` once the writer is closed.
    queue: Mutex<Option<mpsc::Sender<WriterTask<R>>>>,
    parts: AsyncMutex<Option<oneshot::Receiver<WriterParts<F>>>>,
}

impl<R, F> Writer<R, F>
where
    R: Serialize + Clone + Send + 'static,
    F: Fold<R> + 'static,
{
    /// Creates a writer on an operating system thread of its own.
    pub fn on_thread(journal: Journal, vault: Vault, fold: F) -> StoreResult<Self> {
        let touched = fold.changed_resources();
        let (core, head) = WriterCore::new(journal, vault, fold);
        let syncs = core.syncs();
        let (queue, jobs) = mpsc::channel(QUEUE_MAX);
        let (done, parts) = oneshot::channel();
        let run = move || drop(done.send(run(core, jobs)));
        let named = thread::Builder::new().name("store-writer".to_owned());
        named.spawn(run).map_err(StoreError::Thread)?;
        let queue = Mutex::new(Some(queue));
        let door = WriterForm::Thread(WriterThread { queue, parts: AsyncMutex::new(Some(parts)) });
        Ok(Self { form: door, head, syncs, changed: touched })
    }

    /// Creates a writer that works inside the futures of its callers, one at a time. It yields
    /// before each write, sync and fold. A future dropped at a yield leaves its commit to the next
    /// caller.
    pub fn inline(journal: Journal, vault: Vault, fold: F) -> Self {
        let touched = fold.changed_resources();
        let (core, head) = WriterCore::new(journal, vault, fold);
        let syncs = core.syncs();
        let door = WriterForm::Inline(Box::new(AsyncMutex::new(Some(core))));
        Self { form: door, head, syncs, changed: touched }
    }

    /// Returns the last record that is durable and folded.
    pub fn head(&self) -> Head {
        *self.head.lock()
    }

    /// Returns the durations of the journal's syncs so far.
    pub fn syncs(&self) -> &Syncs {
        &self.syncs
    }

    /// Returns the notes of the resources that folded records changed and that were not taken
    /// since.
    pub fn changed_resources(&self) -> &ChangedResources {
        &self.changed
    }

    /// Makes a commit durable and folds it; returns the sequence of its last record, or of the last
    /// record before it if it has none.
    ///
    /// # Errors
    /// A record that is too large is refused before anything is written. After any other error the
    /// commit may or may not be durable; the same holds for a dropped future.
    pub fn append(
        &self,
        commit: Commit<R>,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send {
        self.commit(commit, AckPoint::Folded)
    }

    /// Same as `append`, but acknowledged once durable if many records wait to be folded. An
    /// immediate read may not see the commit yet; later commits are folded later.
    pub fn append_durable(
        &self,
        commit: Commit<R>,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send {
        self.commit(commit, AckPoint::Durable)
    }

    fn commit(
        &self,
        commit: Commit<R>,
        when: AckPoint,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send {
        let job = PendingCommit::new(commit, when);
        async move {
            let (job, answer) = job?;
            match &self.form {
                WriterForm::Thread(thread) => {
                    thread.send(WriterTask::Commit(job)).await?;
                }
                WriterForm::Inline(core) => {
                    core.lock().await.as_mut().ok_or(StoreError::Closed)?.commit_slowly(job).await;
                }
            }
            answer.await.map_err(|_| StoreError::Closed)?
        }
    }

    /// Runs `act` on the journal between two commits; everything accepted before is then durable
    /// and folded. Nothing is written meanwhile, so `act` should be short.
    pub async fn with_journal<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut Journal) -> T + Send + 'static,
    ) -> StoreResult<T> {
        let (send, answer) = oneshot::channel();
        // The caller may have been dropped.
        let act: JournalAction = Box::new(move |journal| drop(send.send(act(journal))));
        match &self.form {
            WriterForm::Thread(thread) => thread.send(WriterTask::Act(act)).await?,
            WriterForm::Inline(core) => {
                core.lock()
                    .await
                    .as_mut()
                    .ok_or(StoreError::Closed)?
                    .work(vec![WriterTask::Act(act)]);
            }
        }
        answer.await.map_err(|_| StoreError::Closed)
    }

    /// Finishes the accepted commits, accepts nothing more, and returns the parts.
    pub async fn close(&self) -> StoreResult<WriterParts<F>> {
        match &self.form {
            WriterForm::Thread(thread) => {
                drop(thread.queue.lock().take());
                let parts = thread.parts.lock().await.take().ok_or(StoreError::Closed)?;
                parts.await.map_err(|_| StoreError::Closed)
            }
            WriterForm::Inline(core) => {
                let core = core.lock().await.take().ok_or(StoreError::Closed)?;
                Ok(core.finish())
            }
        }
    }
}

impl<R, F> WriterThread<R, F> {
    async fn send(&self, work: WriterTask<R>) -> StoreResult {
        let queue = self.queue.lock().clone();
        queue.ok_or(StoreError::Closed)?.send(work).await.map_err(|_| StoreError::Closed)
    }
}

/// Runs the loop of the writer's thread: all waiting work becomes one group.
fn run<R: Clone, F: Fold<R>>(
    mut core: WriterCore<R, F>,
    mut queue: mpsc::Receiver<WriterTask<R>>,
) -> WriterParts<F> {
    let mut waiting = Vec::new();
    while queue.blocking_recv_many(&mut waiting, GROUP_MAX) > 0 {
        core.work(mem::take(&mut waiting));
    }
    core.finish()
}
