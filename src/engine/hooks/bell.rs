//! What the engine tells a round that is under way: something new, hooks to be run again, another set of scripts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::model::ran::FailedHook;

/// An event and a script.
type Pair = (String, String);

/// The bell of one merchant's round.
#[derive(Default)]
pub(super) struct Bell {
    rung: Notify,
    ends: AtomicBool,
    failed: Mutex<Failed>,
}

#[derive(Default)]
struct Failed {
    due: BTreeMap<Pair, FailedHook>,
    /// Those that are being run again, and not written down yet.
    taken: BTreeSet<Pair>,
}

fn pair(failed: &FailedHook) -> Pair {
    (failed.event.clone(), failed.failed.script.clone())
}

impl Bell {
    fn failed(&self) -> MutexGuard<'_, Failed> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There is something new, and these hooks are to be run again.
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

    /// The round takes nothing new on: another one follows, with other scripts.
    pub(super) fn end(&self) {
        self.ends.store(true, Ordering::Relaxed);
        self.rung.notify_one();
    }

    /// Whether it takes nothing new on.
    pub(super) fn ends(&self) -> bool {
        self.ends.load(Ordering::Relaxed)
    }

    /// Waits until it rings.
    pub(super) async fn rings(&self) {
        self.rung.notified().await;
    }

    /// The scripts that are to be run again, as they were called.
    pub(super) fn waiting(&self) -> Vec<FailedHook> {
        self.failed().due.values().cloned().collect()
    }

    /// Takes one on.
    pub(super) fn take(&self, one: &FailedHook) {
        let mut failed = self.failed();
        failed.due.remove(&pair(one));
        failed.taken.insert(pair(one));
    }

    /// It is written down.
    pub(super) fn done(&self, all: &[FailedHook]) {
        let mut failed = self.failed();
        for one in all {
            failed.taken.remove(&pair(one));
        }
    }
}
