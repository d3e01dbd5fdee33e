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

use super::Engine;
use super::access::Wallet;
use super::read::{self, Write};
use super::shared::EngineError;
use super::tasks::Finished;
use crate::base::id::Key;
use crate::client::Urgency;

/// Interval between two readings while a resource waits for a change.
const EVERY: Duration = Duration::from_mins(10);

/// Last reading of each merchant and last refusal of each resource in this process, and the
/// merchants being read now.
#[derive(Debug, Default)]
pub(super) struct Again {
    last: BTreeMap<Key, Instant>,
    under_way: BTreeSet<Key>,
}

impl Again {
    /// Notes that a merchant is being read.
    pub(super) fn reading(&mut self, merchant: &Key) {
        self.last.insert(merchant.clone(), Instant::now());
    }

    /// Permits every reading again at once.
    pub(super) fn forget(&mut self) {
        self.last.clear();
    }

    /// Returns the earliest time at which a merchant may be read again; `None`: at once.
    fn due(&self, merchant: &Key) -> Option<Instant> {
        self.last.get(merchant).and_then(|last| last.checked_add(EVERY))
    }
}

impl Engine {
    /// Starts the readings that are due.
    pub(super) fn read_again(&mut self) {
        if self.stopping {
            return;
        }
        let now = Instant::now();
        let free = |merchant: &&Key| {
            !self.busy.contains(*merchant) && self.again.due(merchant).is_none_or(|due| due <= now)
        };
        let merchants: Vec<Key> = self.planner.stalled().filter(free).cloned().collect();
        for merchant in merchants {
            self.again.reading(&merchant);
            let readings = self.planner.again(&self.world, &merchant);
            if readings.is_empty() {
                continue;
            }
            self.busy.insert(merchant.clone());
            self.again.under_way.insert(merchant.clone());
            let wallet = Wallet { urgency: Urgency::Poll, ..self.wallet(&merchant) };
            let shared = self.shared.clone();
            self.tasks.spawn(async move {
                for reading in readings {
                    let finished = read::read(&shared, reading, &wallet, Write::News).await;
                    if !matches!(finished, Finished::Moved(_)) {
                        return finished;
                    }
                }
                Finished::Moved(merchant)
            });
        }
    }

    /// Permits one more try of each due effect that was refused for a reason that may change at the
    /// service.
    pub(super) fn try_refused(&mut self) {
        if self.stopping {
            return;
        }
        let now = Instant::now();
        let due = |key: &&Key| {
            !self.busy.contains(*key) && self.again.due(key).is_none_or(|due| due <= now)
        };
        let due: Vec<Key> = self.planner.refused_for_now().iter().filter(due).cloned().collect();
        for key in &due {
            self.again.reading(key);
        }
        let tried: BTreeSet<Key> =
            due.into_iter().filter(|key| self.world.try_again(key)).collect();
        if !tried.is_empty() {
            self.look_again(tried);
        }
    }

    /// Plans a resource again whose task ended. If the service refused it for now, its next try
    /// waits for the interval.
    pub(super) fn ended(&mut self, key: &Key) {
        self.look_again(BTreeSet::from([key.clone()]));
        if self.planner.refused_for_now().contains(key) {
            self.again.reading(key);
        }
    }

    /// Counts the merchants being read again now.
    pub(super) fn reading_again(&self) -> usize {
        self.again.under_way.len()
    }

    /// Returns the time at which the next reading is due, if any resource waits for it.
    pub(super) fn next_again(&self) -> Option<Instant> {
        let idle = |merchant: &&Key| !self.busy.contains(*merchant);
        let waiting = self.planner.stalled().chain(self.planner.refused_for_now());
        waiting.filter(idle).filter_map(|key| self.again.due(key)).min()
    }

    /// Reads all blocking accounts again and does nothing else, so that the plan that a person sees
    /// and approves rests on the service's present state.
    pub async fn look_at_accounts(&mut self) -> Result<(), EngineError> {
        self.again.forget();
        self.try_refused();
        self.read_again();
        while let Some(finished) = self.tasks.join_next().await {
            self.finish(finished?)?;
        }
        Ok(())
    }

    /// Returns true if a task only read something again, and failed. The known state then stays,
    /// and the next reading follows in its time.
    pub(super) fn only_again(&mut self, finished: &Finished) -> bool {
        match finished {
            Finished::Again(key, unable, _) => {
                let again = self.again.under_way.remove(key);
                if again {
                    tracing::warn!(key = %key, reason = unable.message(), "not read again");
                    self.busy.remove(key);
                    self.let_merchant_go(key);
                }
                again
            }
            Finished::Moved(key) | Finished::Barred(key, _) | Finished::Stopped(key) => {
                self.again.under_way.remove(key);
                false
            }
            Finished::Unauthorised(key, _) => {
                let again = self.again.under_way.remove(key);
                if again {
                    self.busy.remove(key);
                    self.let_merchant_go(key);
                }
                again
            }
            Finished::Heard(_)
            | Finished::Swept(_)
            | Finished::Looked(_)
            | Finished::HooksRan(_)
            | Finished::Replayed
            | Finished::Enrolled
            | Finished::Retained
            | Finished::Granted(..)
            | Finished::Approved
            | Finished::Booked(_)
            | Finished::Released
            | Finished::Answered(..)
            | Finished::Broken(_) => false,
        }
    }
}
