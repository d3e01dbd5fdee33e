//! What the service said of a merchant's accounts is read again while it stands in somebody's way, since
//! it may say otherwise by now: once when a process first sees it, when someone asks to apply, and every
//! ten minutes. A reading that teaches nothing new writes nothing.

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

/// When this process last read each merchant, and which of them it reads again now.
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

    /// How many read something again now.
    pub(super) fn reading_again(&self) -> usize {
        self.again.under_way.len()
    }

    /// When the next one is due, if anything waits for it.
    pub(super) fn next_again(&self) -> Option<Instant> {
        let idle = |merchant: &&Key| !self.busy.contains(*merchant);
        self.planner.stalled().filter(idle).filter_map(|merchant| self.again.due(merchant)).min()
    }

    /// Reads again what stands in somebody's way, and nothing else: so that a plan that is shown and agreed
    /// to is one of what the service says now.
    pub async fn look_at_accounts(&mut self) -> Result<(), EngineError> {
        self.again.forget();
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
