//! The times at which the service is read again, above all a merchant's accounts.
//!
//! Accounts are read while their known state blocks a resource, since the service may answer
//! differently now: when a process first sees the merchant, before an `apply`, and every ten minutes. A
//! reading without news writes nothing. An effect that was refused for a reason that may change at the
//! service is retried at the same times. Each time permits one try, named by the refused intent: the
//! next refusal is another intent, so no effect is retried in a loop.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::time::Instant;

use crate::base::id::Key;
use crate::engine::handles::task_result::{Task, TaskResult};
use crate::engine::known::known_state::Snapshot;
use crate::engine::readers::read::{self, RecordWhen};
use crate::engine::readers::sweep::SweepSchedule;

/// Interval between two readings while a resource waits for a change.
const REFRESH_EVERY: Duration = Duration::from_mins(10);

/// Last reading of each merchant and last refusal of each resource in this process, and the
/// merchants being read now.
#[derive(Debug, Default)]
pub(crate) struct RefreshTimer {
    last: BTreeMap<Key, Instant>,
    under_way: BTreeSet<Key>,
}

impl RefreshTimer {
    pub(crate) fn note_read(&mut self, merchant: &Key) {
        self.last.insert(merchant.clone(), Instant::now());
    }

    /// Permits every reading again at once.
    pub(crate) fn allow_all(&mut self) {
        self.last.clear();
    }

    /// Notes the end of a merchant's task; returns true if it was a reading.
    pub(crate) fn end(&mut self, merchant: &Key) -> bool {
        self.under_way.remove(merchant)
    }

    /// Returns the earliest time at which a merchant may be read again; `None`: at once.
    fn due(&self, merchant: &Key) -> Option<Instant> {
        self.last.get(merchant).and_then(|last| last.checked_add(REFRESH_EVERY))
    }

    /// Returns the readings that are due, by merchant: at most `slots`. A merchant without anything
    /// to read has none.
    pub(crate) fn due_reads(&mut self, cx: Snapshot<'_>, slots: usize) -> Vec<(Key, Task)> {
        let now = Instant::now();
        let merchants =
            cx.planner.account_blocked_merchants().filter(|key| self.is_due(key, now, cx));
        let merchants: Vec<Key> = merchants.take(slots).cloned().collect();
        merchants.into_iter().filter_map(|merchant| self.read_accounts(merchant, cx)).collect()
    }

    fn read_accounts(&mut self, merchant: Key, cx: Snapshot<'_>) -> Option<(Key, Task)> {
        self.note_read(&merchant);
        let readings = cx.planner.refresh_reads(cx.known_state, &merchant);
        if readings.is_empty() {
            return None;
        }
        self.under_way.insert(merchant.clone());
        let (shared, wallet) = (cx.shared.clone(), cx.poll_credentials(&merchant));
        let key = merchant.clone();
        let task = async move {
            for reading in readings {
                let finished = read::read(&shared, reading, &wallet, RecordWhen::IfChanged).await?;
                if !matches!(finished, TaskResult::Changed(_)) {
                    return Ok(finished);
                }
            }
            Ok(TaskResult::Changed(merchant))
        };
        Some((key, Box::pin(task)))
    }

    /// Returns each due effect that was refused for a reason that may change at the service; it may
    /// be tried once more.
    pub(crate) fn due_refusals(&mut self, cx: Snapshot<'_>) -> Vec<Key> {
        let now = Instant::now();
        let refused = cx.planner.retryable_refusals().iter();
        let due: Vec<Key> = refused.filter(|key| self.is_due(key, now, cx)).cloned().collect();
        for key in &due {
            self.note_read(key);
        }
        due
    }

    /// Returns the time at which the next reading is due, if any resource waits for it.
    pub(crate) fn next_due(&self, cx: Snapshot<'_>) -> Option<Instant> {
        let waiting = cx.planner.account_blocked_merchants().chain(cx.planner.retryable_refusals());
        let idle = waiting.filter(|key| !cx.busy.contains(*key));
        idle.filter_map(|key| self.due(key)).min()
    }

    fn is_due(&self, key: &Key, now: Instant, cx: Snapshot<'_>) -> bool {
        !cx.busy.contains(key) && self.due(key).is_none_or(|due| due <= now)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Readers {
    pub(crate) accounts: RefreshTimer,
    pub(crate) sweeps: SweepSchedule,
}
