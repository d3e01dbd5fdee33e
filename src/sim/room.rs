//! Room on the disks of the machine: for a while they take nothing any more.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// What a disk does not do any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It has no room: nothing grows, and what is there can be made durable.
    Full,
    /// It can only be read.
    ReadOnly,
}

/// The room of all disks of a machine; clones share it.
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

    /// From now on, for so long, the disks refuse.
    pub(super) fn refuse(&self, refusal: Refusal, time: Duration) {
        let until = Instant::now().checked_add(time);
        self.state().refusal = until.map(|until| (refusal, until));
    }

    /// Somebody makes room.
    pub(super) fn make(&self) {
        self.state().refusal = None;
    }

    /// Whether something was refused since the last time that somebody asked.
    pub(super) fn was_refused(&self) -> bool {
        std::mem::take(&mut self.state().refused)
    }

    /// Something is to be done that needs room, or only a disk that can be written.
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
