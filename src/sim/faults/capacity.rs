//! Free space of the machine's disks, which refuse writes for a while.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Reason for which a disk refuses operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskRefusal {
    /// The disk is full: no file grows, and existing bytes can be synced.
    Full,
    /// The disk is read-only.
    ReadOnly,
}

/// Free space of all disks of a machine; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct DiskCapacity(Arc<Mutex<CapacityState>>);

#[derive(Debug, Default)]
struct CapacityState {
    refusal: Option<(DiskRefusal, Instant)>,
    was_refused: bool,
}

impl DiskCapacity {
    fn state(&self) -> MutexGuard<'_, CapacityState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the disks refuse operations for `time` from now on.
    pub(crate) fn refuse(&self, refusal: DiskRefusal, time: Duration) {
        let until = Instant::now().checked_add(time);
        self.state().refusal = until.map(|until| (refusal, until));
    }

    /// Ends the refusal: a person frees space.
    pub(crate) fn clear(&self) {
        self.state().refusal = None;
    }

    /// Returns true if an operation was refused since the last call.
    pub(crate) fn take_refused(&self) -> bool {
        std::mem::take(&mut self.state().was_refused)
    }

    /// Asks for an operation that writes, and grows a file if `grows` is set.
    ///
    /// # Errors
    ///
    /// The disk is full or read-only.
    pub(crate) fn check_write(&self, grows: bool) -> io::Result<()> {
        let mut state = self.state();
        let now = Instant::now();
        let refusal = state.refusal.filter(|(_, until)| now < *until).map(|(refusal, _)| refusal);
        let kind = match refusal {
            Some(DiskRefusal::Full) if grows => io::ErrorKind::StorageFull,
            Some(DiskRefusal::ReadOnly) => io::ErrorKind::ReadOnlyFilesystem,
            Some(DiskRefusal::Full) | None => return Ok(()),
        };
        state.was_refused = true;
        Err(kind.into())
    }
}
