//! Compaction in the daemon: when it is due, or when a person asks for it. It runs beside all other
//! work, on a thread that may wait for disks.

use std::sync::Arc;

use tokio::runtime::Handle;

use crate::store::state::compact::{ArchivePolicy, CompactionResult, Compactor};
use crate::store::state::error::OpenError;

/// Actor of compactions that no person asked for.
pub(crate) const DAEMON: &str = "reckon";

/// Compaction settings of a daemon.
#[derive(Debug, Clone)]
pub struct CompactionPlan {
    pub compactor: Arc<Compactor>,
    /// Treatment of the records that a snapshot replaces.
    pub history: ArchivePolicy,
    /// True if the daemon compacts without a request.
    pub automatic: bool,
}

/// Runs a future on a thread that may wait for disks. Closing the state waits for it.
pub(crate) fn spawn_blocking_task(work: impl Future<Output = ()> + Send + 'static) {
    let runtime = Handle::current();
    drop(tokio::task::spawn_blocking(move || runtime.block_on(work)));
}

/// Logs the result.
pub(crate) fn log_result(done: &Result<CompactionResult, OpenError>) {
    match done {
        Ok(done) => {
            let (before, after) = (done.before.total(), done.after.total());
            tracing::info!(before, after, segments = done.segments, "the state was compacted");
        }
        Err(OpenError::Closing) => {}
        Err(error) => tracing::error!(%error, "cannot compact the state"),
    }
}
