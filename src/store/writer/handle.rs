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

use crate::store::disk::traits::Disk;
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
    /// The disk of the journal.
    disk: Arc<dyn Disk>,
}

enum WriterForm<R, F> {
    Thread {
        /// `None` once the writer is closed.
        queue: Mutex<Option<mpsc::Sender<WriterTask<R>>>>,
        parts: AsyncMutex<Option<oneshot::Receiver<WriterParts<F>>>>,
    },
    Inline(Box<AsyncMutex<Option<WriterCore<R, F>>>>),
}

impl<R, F> Writer<R, F>
where
    R: Serialize + Clone + Send + 'static,
    F: Fold<R> + 'static,
{
    /// Creates a writer on an operating system thread of its own.
    pub fn on_thread(journal: Journal, vault: Vault, fold: F) -> StoreResult<Self> {
        let (changed, disk) = (fold.changed_resources(), Arc::clone(&journal.disk));
        let core = WriterCore::new(journal, vault, fold);
        let (head, syncs) = (Arc::clone(&core.head), Arc::clone(&core.syncs));
        let (queue, jobs) = mpsc::channel(QUEUE_MAX);
        let (done, parts) = oneshot::channel();
        let run = move || drop(done.send(run(core, jobs)));
        let named = thread::Builder::new().name("store-writer".to_owned());
        named.spawn(run).map_err(StoreError::Thread)?;
        let (queue, parts) = (Mutex::new(Some(queue)), AsyncMutex::new(Some(parts)));
        Ok(Self { form: WriterForm::Thread { queue, parts }, head, syncs, changed, disk })
    }

    /// Creates a writer that works inside the futures of its callers, one at a time. It yields
    /// before each write, sync and fold. A future dropped at a yield leaves its commit to the next
    /// caller.
    pub fn inline(journal: Journal, vault: Vault, fold: F) -> Self {
        let (changed, disk) = (fold.changed_resources(), Arc::clone(&journal.disk));
        let core = WriterCore::new(journal, vault, fold);
        let (head, syncs) = (Arc::clone(&core.head), Arc::clone(&core.syncs));
        let form = WriterForm::Inline(Box::new(AsyncMutex::new(Some(core))));
        Self { form, head, syncs, changed, disk }
    }

    /// Returns the last record that is durable and folded.
    pub fn head(&self) -> Head {
        *self.head.lock()
    }

    pub fn syncs(&self) -> &Syncs {
        &self.syncs
    }

    /// Returns the free bytes of the journal's file system; `None` if they are not known.
    pub fn free_bytes(&self) -> Option<u64> {
        self.disk.free_bytes()
    }

    /// Returns the notes of the resources that folded records changed, as far as not yet taken.
    pub fn changed_resources(&self) -> &ChangedResources {
        &self.changed
    }

    /// Makes a commit durable and folds it; returns the sequence of its last record, or of the last
    /// record before it if it has none.
    ///
    /// # Errors
    /// A record that is too large is refused before anything is written. After any other error the
    /// commit may or may not be durable; the same holds for a dropped future.
    pub fn append(&self, commit: Commit<R>) -> impl Future<Output = StoreResult<u64>> + Send {
        self.commit(commit, AckPoint::Folded)
    }

    /// Same as `append`, but acknowledged once durable if many records wait to be folded. An
    /// immediate read may not see the commit yet; later commits are folded later.
    pub fn append_durable(
        &self,
        commit: Commit<R>,
    ) -> impl Future<Output = StoreResult<u64>> + Send {
        self.commit(commit, AckPoint::Durable)
    }

    fn commit(
        &self,
        commit: Commit<R>,
        when: AckPoint,
    ) -> impl Future<Output = StoreResult<u64>> + Send {
        let job = PendingCommit::new(commit, when);
        async move {
            let (job, answer) = job?;
            self.pass(WriterTask::Commit(job)).await?;
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
        self.pass(WriterTask::Act(act)).await?;
        answer.await.map_err(|_| StoreError::Closed)
    }

    /// Passes a task to the thread, or does it at once.
    async fn pass(&self, task: WriterTask<R>) -> StoreResult {
        match &self.form {
            WriterForm::Thread { queue, parts: _ } => {
                let queue = queue.lock().clone();
                queue.ok_or(StoreError::Closed)?.send(task).await.map_err(|_| StoreError::Closed)
            }
            WriterForm::Inline(core) => {
                let mut core = core.lock().await;
                let core = core.as_mut().ok_or(StoreError::Closed)?;
                match task {
                    WriterTask::Commit(job) => core.commit_slowly(job).await,
                    act @ WriterTask::Act(_) => core.work(vec![act]),
                }
                Ok(())
            }
        }
    }

    /// Finishes the accepted commits, accepts nothing more, and returns the parts.
    pub async fn close(&self) -> StoreResult<WriterParts<F>> {
        match &self.form {
            WriterForm::Thread { queue, parts } => {
                drop(queue.lock().take());
                let parts = parts.lock().await.take().ok_or(StoreError::Closed)?;
                parts.await.map_err(|_| StoreError::Closed)
            }
            WriterForm::Inline(core) => {
                Ok(core.lock().await.take().ok_or(StoreError::Closed)?.finish())
            }
        }
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
