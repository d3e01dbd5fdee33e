//! Signals from the engine to a merchant's worker: new events, hooks to run again, another set of
//! scripts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::model::events::hook_run::FailedHook;

/// An event and a script.
type EventAndScript = (String, String);

/// The signal of one merchant's worker.
#[derive(Default)]
pub(crate) struct WorkerSignal {
    rung: Notify,
    ends: AtomicBool,
    failed: Mutex<DueRetries>,
}

#[derive(Default)]
struct DueRetries {
    due: BTreeMap<EventAndScript, FailedHook>,
    /// Those being run again whose runs are not recorded yet.
    running: BTreeSet<EventAndScript>,
}

fn pair(failed: &FailedHook) -> EventAndScript {
    (failed.event.clone(), failed.failed.script.clone())
}

impl WorkerSignal {
    fn lock(&self) -> MutexGuard<'_, DueRetries> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Signals new events, and hooks to run again.
    pub(crate) fn signal(&self, due: Vec<FailedHook>) {
        let mut failed = self.lock();
        for one in due {
            let pair = pair(&one);
            if !failed.running.contains(&pair) {
                failed.due.insert(pair, one);
            }
        }
        drop(failed);
        self.rung.notify_one();
    }

    /// Ends the worker: it begins nothing new, and another one follows with other scripts.
    pub(crate) fn end(&self) {
        self.ends.store(true, Ordering::Relaxed);
        self.rung.notify_one();
    }

    /// Returns true if the worker begins nothing new.
    pub(crate) fn is_ending(&self) -> bool {
        self.ends.load(Ordering::Relaxed)
    }

    /// Waits for a signal.
    pub(crate) async fn wait(&self) {
        self.rung.notified().await;
    }

    /// Returns the hooks to run again, under the names that their scripts had.
    pub(crate) fn waiting(&self) -> Vec<FailedHook> {
        self.lock().due.values().cloned().collect()
    }

    /// Marks a hook as being run again.
    pub(crate) fn take(&self, one: &FailedHook) {
        let mut failed = self.lock();
        failed.due.remove(&pair(one));
        failed.running.insert(pair(one));
    }

    /// Notes that the runs are recorded.
    pub(crate) fn recorded(&self, all: &[FailedHook]) {
        let mut failed = self.lock();
        for one in all {
            failed.running.remove(&pair(one));
        }
    }
}
