//! The one door for appends: vault, journal, fold, answer, in this order.
//!
//! Why it exists: law 1 in one place, and one sync for however many wait (group commit).
//!
//! Guarantees: an answered commit is durable and folded, so that who waited for it reads its own
//! writes (or durable alone, for who wants no more); commits take effect in the order in which they were accepted; after any failure nothing
//! more is accepted, and nobody who waited is told that it went well.
//! Assumptions: a crash may keep the first records of a commit that was never answered and lose
//! the rest: what must not be separated is one record.
//!
//! Two forms of the same code: on a thread of its own for production, and inside the caller's
//! future for the simulator, which stops it at each yield.

mod core;

use std::{
    fmt,
    future::Future,
    mem,
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use serde::Serialize;
use tokio::sync::{Mutex as AsyncMutex, mpsc, oneshot};

pub(super) use self::core::encode;
use self::core::{Act, Core, Job, When, Work};
use super::{
    error::StoreError,
    journal::{Head, Journal},
    syncs::Syncs,
    touched::Touched,
    vault::{Sealed, Vault},
};

/// Commits that wait for the writer; more callers wait for a place.
const QUEUE_MAX: usize = 1024;
/// Commits made durable by one sync.
const GROUP_MAX: usize = 1024;

/// What one caller wants to be durable.
#[derive(Debug, Clone)]
pub struct Commit<R> {
    /// Values that the records refer to; durable before them.
    pub blobs: Vec<Sealed>,
    /// The records, in order.
    pub records: Vec<R>,
}

impl<R> Commit<R> {
    /// A commit of records without sealed values.
    pub fn of(records: Vec<R>) -> Self {
        Self { blobs: Vec::new(), records }
    }
}

/// Takes durable records into the index.
pub trait Fold<R>: Send {
    /// Applies records with their sequences, in order and in one transaction of the index together
    /// with `head`, which is the last of them.
    fn apply(&mut self, batch: &[(u64, R)], head: Head) -> Result<(), StoreError>;

    /// Whether something leaves the process once this record is durable: then the mark of the journal is durable
    /// before whoever appended it is answered.
    fn leaves(&self, _record: &R) -> bool {
        false
    }

    /// Notes of the resources that applied records spoke of.
    fn touched(&self) -> Touched {
        Touched::default()
    }
}

/// What a closed writer gives back.
#[derive(Debug)]
pub struct Parts<F> {
    /// The journal; everything in it is durable.
    pub journal: Journal,
    /// The vault.
    pub vault: Vault,
    /// The fold; it has seen everything that is in the journal, unless a write failed.
    pub fold: F,
}

/// The door. Share it behind an `Arc`.
pub struct Writer<R, F> {
    door: Door<R, F>,
    head: Arc<Mutex<Head>>,
    syncs: Arc<Syncs>,
    touched: Touched,
}

enum Door<R, F> {
    Thread(Thread<R, F>),
    Inline(Box<AsyncMutex<Option<Core<R, F>>>>),
}

struct Thread<R, F> {
    /// Gone once the writer is closed.
    queue: Mutex<Option<mpsc::Sender<Work<R>>>>,
    parts: AsyncMutex<Option<oneshot::Receiver<Parts<F>>>>,
}

impl<R, F> Writer<R, F>
where
    R: Serialize + Clone + Send + 'static,
    F: Fold<R> + 'static,
{
    /// A writer on an operating system thread of its own.
    pub fn threaded(journal: Journal, vault: Vault, fold: F) -> Result<Self, StoreError> {
        let touched = fold.touched();
        let (core, head) = Core::new(journal, vault, fold);
        let syncs = core.syncs();
        let (queue, jobs) = mpsc::channel(QUEUE_MAX);
        let (done, parts) = oneshot::channel();
        let run = move || drop(done.send(run(core, jobs)));
        let named = thread::Builder::new().name("store-writer".to_owned());
        named.spawn(run).map_err(StoreError::Thread)?;
        let queue = Mutex::new(Some(queue));
        let door = Door::Thread(Thread { queue, parts: AsyncMutex::new(Some(parts)) });
        Ok(Self { door, head, syncs, touched })
    }

    /// A writer that works inside the futures of its callers, one at a time, and yields before it
    /// writes, before it syncs and before it folds. A future dropped at a yield leaves its commit
    /// to the next caller.
    pub fn inline(journal: Journal, vault: Vault, fold: F) -> Self {
        let touched = fold.touched();
        let (core, head) = Core::new(journal, vault, fold);
        let syncs = core.syncs();
        let door = Door::Inline(Box::new(AsyncMutex::new(Some(core))));
        Self { door, head, syncs, touched }
    }

    /// The last record that is durable and folded.
    pub fn head(&self) -> Head {
        *self.head.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long the journal's syncs took so far.
    pub fn syncs(&self) -> &Syncs {
        &self.syncs
    }

    /// The resources that folded records spoke of since somebody last took the notes.
    pub fn touched(&self) -> &Touched {
        &self.touched
    }

    /// Makes a commit durable and folds it; answers the sequence of its last record, or of the
    /// last record before it if it has none.
    ///
    /// A record that is too large is refused before anything is written. After any other error the
    /// commit may or may not be durable, and so it is when the future is dropped.
    pub fn append(
        &self,
        commit: Commit<R>,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send {
        self.commit(commit, When::Folded)
    }

    /// The same, answered as soon as it is durable where much waits to be folded. Who reads at once may not see it yet:
    /// what is appended later is folded later.
    pub fn keep(&self, commit: Commit<R>) -> impl Future<Output = Result<u64, StoreError>> + Send {
        self.commit(commit, When::Durable)
    }

    fn commit(
        &self,
        commit: Commit<R>,
        when: When,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send {
        let job = Job::new(commit, when);
        async move {
            let (job, answer) = job?;
            match &self.door {
                Door::Thread(thread) => {
                    thread.send(Work::Commit(job)).await?;
                }
                Door::Inline(core) => {
                    core.lock().await.as_mut().ok_or(StoreError::Closed)?.commit_slowly(job).await;
                }
            }
            answer.await.map_err(|_| StoreError::Closed)?
        }
    }

    /// Does something to the journal between two commits; everything accepted before is durable and folded then.
    /// Nothing is written meanwhile, so it ought to be short.
    ///
    /// # Errors
    /// The writer is closed, or an earlier write failed.
    pub async fn between<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut Journal) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let (send, answer) = oneshot::channel();
        // Whoever asked may have gone away.
        let act: Act = Box::new(move |journal| drop(send.send(act(journal))));
        match &self.door {
            Door::Thread(thread) => thread.send(Work::Act(act)).await?,
            Door::Inline(core) => {
                core.lock().await.as_mut().ok_or(StoreError::Closed)?.work(vec![Work::Act(act)]);
            }
        }
        answer.await.map_err(|_| StoreError::Closed)
    }

    /// Finishes what was accepted, accepts nothing more, and gives the parts back. A second call
    /// is [`StoreError::Closed`].
    pub async fn close(&self) -> Result<Parts<F>, StoreError> {
        match &self.door {
            Door::Thread(thread) => {
                drop(thread.take_queue());
                let parts = thread.parts.lock().await.take().ok_or(StoreError::Closed)?;
                parts.await.map_err(|_| StoreError::Closed)
            }
            Door::Inline(core) => {
                let core = core.lock().await.take().ok_or(StoreError::Closed)?;
                Ok(core.finish())
            }
        }
    }
}

impl<R, F> fmt::Debug for Writer<R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("head", &self.head).finish_non_exhaustive()
    }
}

impl<R, F> Thread<R, F> {
    async fn send(&self, work: Work<R>) -> Result<(), StoreError> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        queue.ok_or(StoreError::Closed)?.send(work).await.map_err(|_| StoreError::Closed)
    }

    fn take_queue(&self) -> Option<mpsc::Sender<Work<R>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The loop of the writer's thread: everything that waits becomes one group.
fn run<R: Clone, F: Fold<R>>(mut core: Core<R, F>, mut queue: mpsc::Receiver<Work<R>>) -> Parts<F> {
    let mut waiting = Vec::new();
    while queue.blocking_recv_many(&mut waiting, GROUP_MAX) > 0 {
        core.work(mem::take(&mut waiting));
    }
    core.finish()
}

#[cfg(test)]
mod tests;
