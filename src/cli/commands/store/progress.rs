//! Progress of copying or reading many bytes: shown only once it takes a while.

use std::time::Duration;

use tokio::time::Instant;

use crate::cli::daemon::signals::counter;
use crate::render::progress::Counter;

/// Time before progress is shown.
const PATIENCE: Duration = Duration::from_millis(500);

/// Counts mebibytes at a terminal.
pub(crate) struct SlowProgress {
    started: Instant,
    what: &'static str,
    shown: Option<(u64, Counter)>,
}

impl SlowProgress {
    /// Creates a counter that shows nothing yet.
    pub(crate) fn new(what: &'static str) -> Self {
        Self { started: Instant::now(), what, shown: None }
    }

    /// Sets the bytes that are done, and their total.
    pub(crate) fn set(&mut self, done: u64, of: u64) {
        if self.started.elapsed() < PATIENCE {
            return;
        }
        let (done, of) = (mebibytes(done), mebibytes(of));
        if self.shown.as_ref().is_none_or(|(total, _)| *total != of) {
            // The previous counter is removed first.
            self.shown = None;
            self.shown = Some((of, counter(of, self.what)));
        }
        if let Some((_, counter)) = &self.shown {
            counter.set(done);
        }
    }
}

fn mebibytes(bytes: u64) -> u64 {
    bytes.checked_shr(20).unwrap_or(0)
}
