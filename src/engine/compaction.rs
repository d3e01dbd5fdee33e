//! Compaction in the daemon: when it is due, or when a person asks for it. It runs beside all other
//! work, on a thread that may wait for disks.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::Engine;
use super::question::Reply;
use crate::store::open::{Compacting, Compactor, History, OpenError, Shorter};

/// Actor of compactions that no person asked for.
const DAEMON: &str = "reckon";

/// Compaction settings of a daemon.
#[derive(Debug, Clone)]
pub struct Compaction {
    pub compactor: Arc<Compactor>,
    /// Treatment of the records that a snapshot replaces.
    pub history: History,
    /// True if the daemon compacts without a request.
    pub automatic: bool,
}

impl Engine {
    /// Sets the compaction of this process.
    pub fn compact_with(&mut self, compaction: Compaction) {
        self.compaction = Some(compaction);
    }

    /// Compacts because a person asks for it.
    pub(super) fn compact(&self, drop_history: bool, actor: String, reply: oneshot::Sender<Reply>) {
        let Some(Compaction { compactor, history, .. }) = self.compaction.clone() else {
            let why = "this process does not compact its state".to_owned();
            return drop(reply.send(Reply::Compacted(Err(why))));
        };
        let history = if drop_history { History::Drop } else { history };
        let wanted = Compacting { history, at: self.shared.now(), actor };
        beside(async move {
            let done = compactor.compact(&wanted).await;
            noted(&done);
            // The asker may have gone away.
            drop(reply.send(Reply::Compacted(done.map(Box::new).map_err(|why| why.to_string()))));
        });
    }

    /// Compacts if the journal is much larger than the known state.
    pub(super) fn compact_if_due(&self) {
        let Some(compaction) = self.compaction.clone().filter(|one| one.automatic) else { return };
        let Compaction { compactor, history, .. } = compaction;
        let wanted = Compacting { history, at: self.shared.now(), actor: DAEMON.to_owned() };
        beside(async move {
            match compactor.is_due() {
                Ok(false) => {}
                Ok(true) => noted(&compactor.compact(&wanted).await),
                Err(error) => tracing::error!(%error, "the size of the state is not known"),
            }
        });
    }
}

/// Runs a future on a thread that may wait for disks. Closing the state waits for it.
pub(super) fn beside(work: impl Future<Output = ()> + Send + 'static) {
    let runtime = Handle::current();
    drop(tokio::task::spawn_blocking(move || runtime.block_on(work)));
}

/// Logs the result.
fn noted(done: &Result<Shorter, OpenError>) {
    match done {
        Ok(done) => {
            let (before, after) = (done.before.total(), done.after.total());
            tracing::info!(before, after, segments = done.segments, "the state was compacted");
        }
        Err(OpenError::Closing) => {}
        Err(error) => tracing::error!(%error, "the state could not be compacted"),
    }
}
