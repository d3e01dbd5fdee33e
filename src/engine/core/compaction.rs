//! Compaction in the daemon: when it is due, or when a person asks for it. It runs beside all other
//! work, on a thread that may wait for disks.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::coordinator::Engine;
use crate::engine::queries::protocol::Reply;
use crate::store::state::compact::{ArchivePolicy, CompactionRequest, CompactionResult, Compactor};
use crate::store::state::error::OpenError;

/// Actor of compactions that no person asked for.
const DAEMON: &str = "reckon";

/// Compaction settings of a daemon.
#[derive(Debug, Clone)]
pub struct CompactionPlan {
    pub compactor: Arc<Compactor>,
    /// Treatment of the records that a snapshot replaces.
    pub history: ArchivePolicy,
    /// True if the daemon compacts without a request.
    pub automatic: bool,
}

impl Engine {
    /// Sets the compaction of this process.
    pub fn compact_with(&mut self, compaction: CompactionPlan) {
        self.compaction = Some(compaction);
    }

    /// Compacts because a person asks for it.
    pub(crate) fn compact(&self, drop_history: bool, actor: String, reply: oneshot::Sender<Reply>) {
        let Some(CompactionPlan { compactor, history, .. }) = self.compaction.clone() else {
            let why = "this process cannot compact its state".to_owned();
            return drop(reply.send(Reply::Compacted(Err(why))));
        };
        let history = if drop_history { ArchivePolicy::Drop } else { history };
        let wanted = CompactionRequest { history, at: self.shared.now(), actor };
        spawn_blocking_task(async move {
            let done = compactor.compact(&wanted).await;
            log_result(&done);
            // The asker may have gone away.
            drop(reply.send(Reply::Compacted(done.map(Box::new).map_err(|why| why.to_string()))));
        });
    }

    /// Compacts if the journal is much larger than the known state.
    pub(crate) fn compact_if_due(&self) {
        let Some(compaction) = self.compaction.clone().filter(|one| one.automatic) else { return };
        let CompactionPlan { compactor, history, .. } = compaction;
        let wanted = CompactionRequest { history, at: self.shared.now(), actor: DAEMON.to_owned() };
        spawn_blocking_task(async move {
            match compactor.is_due() {
                Ok(false) => {}
                Ok(true) => log_result(&compactor.compact(&wanted).await),
                Err(error) => tracing::error!(%error, "cannot read the size of the state"),
            }
        });
    }
}

/// Runs a future on a thread that may wait for disks. Closing the state waits for it.
pub(crate) fn spawn_blocking_task(work: impl Future<Output = ()> + Send + 'static) {
    let runtime = Handle::current();
    drop(tokio::task::spawn_blocking(move || runtime.block_on(work)));
}

/// Logs the result.
fn log_result(done: &Result<CompactionResult, OpenError>) {
    match done {
        Ok(done) => {
            let (before, after) = (done.before.total(), done.after.total());
            tracing::info!(before, after, segments = done.segments, "the state was compacted");
        }
        Err(OpenError::Closing) => {}
        Err(error) => tracing::error!(%error, "cannot compact the state"),
    }
}
