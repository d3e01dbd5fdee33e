//! Free space of the machine's disks, which refuse writes for a while.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Reason for which a disk refuses operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The disk is full: no file grows, and existing bytes can be synced.
    Full,
    /// The disk is read-only.
    ReadOnly,
}

/// Free space of all disks of a machine; clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Room(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    refusal: Option<(Refusal, Instant)>,
    refused: bool,
}

impl Room {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the disks refuse operations for `time` from now on.
    pub(super) fn refuse(&self, refusal: Refusal, time: Duration) {
        let until = Instant::now().checked_add(time);
        self.state().refusal = until.map(|until| (refusal, until));
    }

    /// Ends the refusal: a person frees space.
    pub(super) fn make(&self) {
        self.state().refusal = None;
    }

    /// Returns true if an operation was refused since the last call.
    pub(super) fn was_refused(&self) -> bool {
        std::mem::take(&mut self.state().refused)
    }

    /// Asks for an operation that writes, and grows a file if `grows` is set.
    ///
    /// # Errors
    ///
    /// The disk is full or read-only.
    pub(super) fn ask(&self, grows: bool) -> io::Result<()> {
        let mut state = self.state();
        let now = Instant::now();
        let refusal = state.refusal.filter(|(_, until)| now < *until).map(|(refusal, _)| refusal);
        let kind = match refusal {
            Some(Refusal::Full) if grows => io::ErrorKind::StorageFull,
            Some(Refusal::ReadOnly) => io::ErrorKind::ReadOnlyFilesystem,
            Some(Refusal::Full) | None => return Ok(()),
        };
        state.refused = true;
        Err(kind.into())
    }
}
