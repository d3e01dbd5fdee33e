//! Reads a merchant's accounts again while their known state blocks a resource, since the service
//! may answer differently now. It reads when a process first sees the merchant, before an `apply`,
//! and every ten minutes. A reading without news writes nothing.
//!
//! An effect that was refused for a reason that may change at the service is retried at the same
//! times. Each time permits one try, named by the refused intent: the next refusal is another
//! intent, so no effect is retried in a loop.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::time::Instant;

use super::read;
use super::read::RecordWhen;
use crate::base::id::Key;
use crate::client::gate::Urgency;
use crate::engine::core::coordinator::Engine;
use crate::engine::core::handles::EngineError;
use crate::engine::core::task_result::TaskResult;
use crate::engine::executor::access::CredentialSource;

/// Interval between two readings while a resource waits for a change.
const EVERY: Duration = Duration::from_mins(10);

/// Last reading of each merchant and last refusal of each resource in this process, and the
/// merchants being read now.
#[derive(Debug, Default)]
pub(crate) struct RefreshTimer {
    last: BTreeMap<Key, Instant>,
    under_way: BTreeSet<Key>,
}

impl RefreshTimer {
    /// Notes that a merchant is being read.
    pub(crate) fn note_read(&mut self, merchant: &Key) {
        self.last.insert(merchant.clone(), Instant::now());
    }

    /// Permits every reading again at once.
    pub(crate) fn allow_all(&mut self) {
        self.last.clear();
    }

    /// Returns the earliest time at which a merchant may be read again; `None`: at once.
    fn due(&self, merchant: &Key) -> Option<Instant> {
        self.last.get(merchant).and_then(|last| last.checked_add(EVERY))
    }
}

impl Engine {
    /// Starts the readings that are due.
    pub(crate) fn start_account_reads(&mut self) {
        if self.stopping {
            return;
        }
        let now = Instant::now();
        let free = |merchant: &&Key| {
            !self.busy.contains(*merchant)
                && self.account_refresh.due(merchant).is_none_or(|due| due <= now)
        };
        let merchants: Vec<Key> =
            self.planner.account_blocked_merchants().filter(free).cloned().collect();
        for merchant in merchants {
            self.account_refresh.note_read(&merchant);
            let readings = self.planner.refresh_reads(&self.known_state, &merchant);
            if readings.is_empty() {
                continue;
            }
            self.busy.insert(merchant.clone());
            self.account_refresh.under_way.insert(merchant.clone());
            let wallet =
                CredentialSource { urgency: Urgency::Poll, ..self.credential_source(&merchant) };
            let shared = self.shared.clone();
            self.tasks.spawn(async move {
                for reading in readings {
                    let finished =
                        read::read(&shared, reading, &wallet, RecordWhen::IfChanged).await;
                    if !matches!(finished, TaskResult::Changed(_)) {
                        return finished;
                    }
                }
                TaskResult::Changed(merchant)
            });
        }
    }

    /// Permits one more try of each due effect that was refused for a reason that may change at the
    /// service.
    pub(crate) fn retry_refused(&mut self) {
        if self.stopping {
            return;
        }
        let now = Instant::now();
        let due = |key: &&Key| {
            !self.busy.contains(*key) && self.account_refresh.due(key).is_none_or(|due| due <= now)
        };
        let due: Vec<Key> = self.planner.retryable_refusals().iter().filter(due).cloned().collect();
        for key in &due {
            self.account_refresh.note_read(key);
        }
        let tried: BTreeSet<Key> =
            due.into_iter().filter(|key| self.known_state.try_again(key)).collect();
        if !tried.is_empty() {
            self.replan(tried);
        }
    }

    /// Plans a resource again whose task ended. If the service refused it for now, its next try
    /// waits for the interval.
    pub(crate) fn task_ended(&mut self, key: &Key) {
        self.replan(BTreeSet::from([key.clone()]));
        if self.planner.retryable_refusals().contains(key) {
            self.account_refresh.note_read(key);
        }
    }

    /// Counts the merchants being read again now.
    pub(crate) fn account_reads(&self) -> usize {
        self.account_refresh.under_way.len()
    }

    /// Returns the time at which the next reading is due, if any resource waits for it.
    pub(crate) fn next_account_read(&self) -> Option<Instant> {
        let idle = |merchant: &&Key| !self.busy.contains(*merchant);
        let waiting =
            self.planner.account_blocked_merchants().chain(self.planner.retryable_refusals());
        waiting.filter(idle).filter_map(|key| self.account_refresh.due(key)).min()
    }

    /// Reads all blocking accounts again and does nothing else, so that the plan that a person sees
    /// and approves rests on the service's present state.
    pub async fn refresh_accounts(&mut self) -> Result<(), EngineError> {
        self.account_refresh.allow_all();
        self.retry_refused();
        self.start_account_reads();
        while let Some(finished) = self.tasks.join_next().await {
            self.finish(finished?)?;
        }
        Ok(())
    }

    /// Returns true if a task only read something again, and failed. The known state then stays,
    /// and the next reading follows in its time.
    pub(crate) fn ends_account_read(&mut self, finished: &TaskResult) -> bool {
        match finished {
            TaskResult::RetryLater(key, unable, _) => {
                let again = self.account_refresh.under_way.remove(key);
                if again {
                    tracing::warn!(key = %key, reason = unable.message(), "cannot read the \
                        accounts again");
                    self.busy.remove(key);
                    self.release_merchant(key);
                }
                again
            }
            TaskResult::Changed(key)
            | TaskResult::BlockedByUnknown(key, _)
            | TaskResult::Stopped(key) => {
                self.account_refresh.under_way.remove(key);
                false
            }
            TaskResult::Unauthorised(key, _) => {
                let again = self.account_refresh.under_way.remove(key);
                if again {
                    self.busy.remove(key);
                    self.release_merchant(key);
                }
                again
            }
            TaskResult::RecordWritten(_)
            | TaskResult::ListSwept(_)
            | TaskResult::EventsPolled(_)
            | TaskResult::HooksRan(_)
            | TaskResult::Replayed
            | TaskResult::ScriptsRecorded
            | TaskResult::RetentionDone
            | TaskResult::ActionTried(..)
            | TaskResult::Approved
            | TaskResult::BookkeepingDone(_)
            | TaskResult::Released
            | TaskResult::WithReply(..)
            | TaskResult::Broken(_) => false,
        }
    }
}
