//! What the service said of a merchant's accounts is read again while it stands in somebody's way, since
//! it may say otherwise by now: once when a process first sees it, when someone asks to apply, and every
//! ten minutes. A reading that teaches nothing new writes nothing.
//!
//! An effect that was refused for what may change at the service is tried again at the same times. Each time lets one
//! try through, named by the refused intent: the next refusal is another one, so nothing is tried in a loop.

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

/// How long what was read is believed, while something waits for it to change.
const EVERY: Duration = Duration::from_mins(10);

/// When this process last read each merchant and was last refused each resource, and which merchants it reads again now.
#[derive(Debug, Default)]
pub(super) struct Again {
    last: BTreeMap<Key, Instant>,
    under_way: BTreeSet<Key>,
}

impl Again {
    /// A merchant is being read.
    pub(super) fn reading(&mut self, merchant: &Key) {
        self.last.insert(merchant.clone(), Instant::now());
    }

    /// Whatever was read may be read again at once.
    pub(super) fn forget(&mut self) {
        self.last.clear();
    }

    /// From when on a merchant may be read again; `None`: at once.
    fn due(&self, merchant: &Key) -> Option<Instant> {
        self.last.get(merchant).and_then(|last| last.checked_add(EVERY))
    }
}

impl Engine {
    /// Starts to read again what is due.
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

    /// Lets each effect whose time has come be tried once more, if it was refused for what may change at the service.
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

    /// Makes the steps of a resource again whose task ended. If the service refused it for now, it is tried again in
    /// its time.
    pub(super) fn ended(&mut self, key: &Key) {
        self.look_again(BTreeSet::from([key.clone()]));
        if self.planner.refused_for_now().contains(key) {
            self.again.reading(key);
        }
    }

    /// How many read something again now.
    pub(super) fn reading_again(&self) -> usize {
        self.again.under_way.len()
    }

    /// When the next one is due, if anything waits for it.
    pub(super) fn next_again(&self) -> Option<Instant> {
        let idle = |merchant: &&Key| !self.busy.contains(*merchant);
        let waiting = self.planner.stalled().chain(self.planner.refused_for_now());
        waiting.filter(idle).filter_map(|key| self.again.due(key)).min()
    }

    /// Reads again what stands in somebody's way, and nothing else: so that a plan that is shown and agreed
    /// to is one of what the service says now.
    pub async fn look_at_accounts(&mut self) -> Result<(), EngineError> {
        self.again.forget();
        self.try_refused();
        self.read_again();
        while let Some(finished) = self.tasks.join_next().await {
            self.finish(finished?)?;
        }
        Ok(())
    }

    /// Whether a task only read something again, and failed: then what is known stays, and it is read
    /// again in its time.
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
