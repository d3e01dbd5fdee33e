//! Group flush: one flush of the index serves all requests that wait for one.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Mutex;

use crate::store::index::ordered::{Index, IndexError};

/// Shared flush. A request that applied a change takes a number, and waits until a flush that began
/// after the change has ended.
#[derive(Debug, Default)]
pub(crate) struct GroupFlush {
    applied: AtomicU64,
    /// Last number that a flush covers.
    flushed: Mutex<u64>,
}

impl GroupFlush {
    /// Returns the number of a change applied just now.
    pub(crate) fn number(&self) -> u64 {
        self.applied.fetch_add(1, Ordering::SeqCst).saturating_add(1)
    }

    /// Waits until the change of this number is flushed.
    pub(crate) async fn wait(&self, index: &dyn Index, number: u64) -> Result<(), IndexError> {
        let mut flushed = self.flushed.lock().await;
        if *flushed >= number {
            return Ok(());
        }
        let covered = self.applied.load(Ordering::SeqCst);
        index.flush()?;
        *flushed = covered;
        Ok(())
    }
}
