//! Signals from the engine to a merchant's worker: new events, hooks to run again, another set of
//! scripts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::model::ran::FailedHook;

/// An event and a script.
type Pair = (String, String);

/// The signal of one merchant's worker.
#[derive(Default)]
pub(super) struct Bell {
    rung: Notify,
    ends: AtomicBool,
    failed: Mutex<Failed>,
}

#[derive(Default)]
struct Failed {
    due: BTreeMap<Pair, FailedHook>,
    /// Those being run again whose runs are not recorded yet.
    taken: BTreeSet<Pair>,
}

fn pair(failed: &FailedHook) -> Pair {
    (failed.event.clone(), failed.failed.script.clone())
}

impl Bell {
    fn failed(&self) -> MutexGuard<'_, Failed> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Signals new events, and hooks to run again.
    pub(super) fn ring(&self, due: Vec<FailedHook>) {
        let mut failed = self.failed();
        for one in due {
            let pair = pair(&one);
            if !failed.taken.contains(&pair) {
                failed.due.insert(pair, one);
            }
        }
        drop(failed);
        self.rung.notify_one();
    }

    /// Ends the worker: it begins nothing new, and another one follows with other scripts.
    pub(super) fn end(&self) {
        self.ends.store(true, Ordering::Relaxed);
        self.rung.notify_one();
    }

    /// Returns true if the worker begins nothing new.
    pub(super) fn ends(&self) -> bool {
        self.ends.load(Ordering::Relaxed)
    }

    /// Waits for a signal.
    pub(super) async fn rings(&self) {
        self.rung.notified().await;
    }

    /// Returns the hooks to run again, under the names that their scripts had.
    pub(super) fn waiting(&self) -> Vec<FailedHook> {
        self.failed().due.values().cloned().collect()
    }

    /// Marks a hook as being run again.
    pub(super) fn take(&self, one: &FailedHook) {
        let mut failed = self.failed();
        failed.due.remove(&pair(one));
        failed.taken.insert(pair(one));
    }

    /// Notes that the runs are recorded.
    pub(super) fn done(&self, all: &[FailedHook]) {
        let mut failed = self.failed();
        for one in all {
            failed.taken.remove(&pair(one));
        }
    }
}
