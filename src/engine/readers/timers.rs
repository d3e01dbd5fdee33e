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
use crate::base::timers::Timers;
use crate::engine::handles::task_result::{Task, TaskResult};
use crate::engine::known::known_state::Snapshot;
use crate::engine::readers::read::{self, RecordWhen};
use crate::engine::readers::sweep::SweepSchedule;
use crate::plan::planner::Planner;

/// Interval between two readings while a resource waits for a change.
const REFRESH_EVERY: Duration = Duration::from_mins(10);

#[derive(Debug, Default)]
pub(crate) struct RefreshTimer {
    /// The last reading of each merchant, and the last refusal of each resource, in this process.
    last: BTreeMap<Key, Instant>,
    /// Merchants whose accounts block a resource.
    blocked: Timers<Key, Instant>,
    /// Resources that were refused for a reason that may change at the service.
    refused: Timers<Key, Instant>,
    /// Merchants being read now.
    under_way: BTreeSet<Key>,
}

impl RefreshTimer {
    /// Sets the timers of these merchants and resources, whose plan may have changed.
    pub(crate) fn note_changes(&mut self, changed: BTreeSet<Key>, planner: &Planner) {
        let now = Instant::now();
        for key in changed {
            let last = self.last.get(&key);
            let due = last.and_then(|last| last.checked_add(REFRESH_EVERY)).unwrap_or(now);
            let is_refused = planner.retryable_refusals.contains(&key);
            self.refused.set(key.clone(), is_refused.then_some(due));
            let is_blocked = planner.is_account_blocked(&key);
            self.blocked.set(key, is_blocked.then_some(due));
        }
    }

    pub(crate) fn note_read(&mut self, key: &Key) {
        let now = Instant::now();
        self.last.insert(key.clone(), now);
        if let Some(due) = now.checked_add(REFRESH_EVERY) {
            self.blocked.move_to(key, due);
            self.refused.move_to(key, due);
        }
    }

    /// Permits every reading again at once.
    pub(crate) fn allow_all(&mut self) {
        let now = Instant::now();
        self.last.clear();
        self.blocked.move_all_to(now);
        self.refused.move_all_to(now);
    }

    /// Permits the readings of these merchants and resources again at once.
    pub(crate) fn allow<'a>(&mut self, keys: impl IntoIterator<Item = &'a Key>) {
        let now = Instant::now();
        for key in keys {
            self.last.remove(key);
            self.blocked.move_to(key, now);
            self.refused.move_to(key, now);
        }
    }

    /// Notes the end of a merchant's task; returns true if it was a reading.
    pub(crate) fn end(&mut self, merchant: &Key) -> bool {
        self.under_way.remove(merchant)
    }

    /// Returns at most `slots` due readings, by merchant; one with nothing to read has none.
    pub(crate) fn due_reads(&mut self, cx: Snapshot<'_>, slots: usize) -> Vec<(Key, Task)> {
        let due = self.blocked.due_by(Instant::now()).filter(|key| !cx.busy.contains(*key));
        let merchants: Vec<Key> = due.take(slots).cloned().collect();
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

    /// Returns each due effect that may be tried once more, since its refusal may change.
    pub(crate) fn due_refusals(&mut self, busy: &BTreeSet<Key>) -> Vec<Key> {
        let due = self.refused.due_by(Instant::now()).filter(|key| !busy.contains(*key));
        let due: Vec<Key> = due.cloned().collect();
        for key in &due {
            self.note_read(key);
        }
        due
    }

    /// Returns the time at which the next reading is due, if any resource waits for it.
    pub(crate) fn next_due(&self, busy: &BTreeSet<Key>) -> Option<Instant> {
        let next = |timers: &Timers<Key, Instant>| {
            let mut idle = timers.in_order().filter(|(_, key)| !busy.contains(*key));
            idle.next().map(|(due, _)| due)
        };
        [next(&self.blocked), next(&self.refused)].into_iter().flatten().min()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Readers {
    pub(crate) accounts: RefreshTimer,
    pub(crate) sweeps: SweepSchedule,
}

#[cfg(test)]
impl RefreshTimer {
    /// Builds timers of merchants whose accounts block a resource, and of refused resources, all of
    /// them read now.
    pub(crate) fn after_readings(blocked: &[Key], refused: &[Key]) -> Self {
        let mut timers = Self::default();
        let now = Instant::now();
        for key in blocked {
            timers.blocked.set(key.clone(), Some(now));
            timers.note_read(key);
        }
        for key in refused {
            timers.refused.set(key.clone(), Some(now));
            timers.note_read(key);
        }
        timers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys<const N: usize>(names: [&str; N]) -> [Key; N] {
        names.map(|name| name.parse().unwrap())
    }

    fn due(timers: &RefreshTimer) -> Vec<String> {
        let now = Instant::now();
        let due = timers.blocked.due_by(now).chain(timers.refused.due_by(now));
        due.map(Key::short).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_reading_is_due_again_after_its_interval() {
        let (blocked, refused) = (keys(["Merchant/a"]), keys(["Invoice/x"]));
        let timers = RefreshTimer::after_readings(&blocked, &refused);
        assert!(due(&timers).is_empty());
        tokio::time::advance(REFRESH_EVERY).await;
        assert_eq!(due(&timers), ["Merchant/a", "Invoice/x"]);
    }

    /// A script that reconciles one resource makes no merchant beside its own read again.
    #[tokio::test(start_paused = true)]
    async fn one_resource_read_again_at_once_leaves_the_others_their_interval() {
        let (blocked, refused) = (keys(["Merchant/a", "Merchant/b"]), keys(["Invoice/x"]));
        let mut timers = RefreshTimer::after_readings(&blocked, &refused);
        timers.allow([&blocked[0]]);
        assert_eq!(due(&timers), ["Merchant/a"]);
        timers.allow(&keys(["Invoice/x", "Invoice/never-refused"]));
        assert_eq!(due(&timers), ["Merchant/a", "Invoice/x"]);
        timers.allow_all();
        assert_eq!(due(&timers).len(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_resource_with_a_task_waits_for_its_end() {
        let refused = keys(["Invoice/x", "Invoice/y"]);
        let mut timers = RefreshTimer::after_readings(&[], &refused);
        tokio::time::advance(REFRESH_EVERY).await;
        let busy = BTreeSet::from([refused[0].clone()]);
        assert_eq!(timers.due_refusals(&busy), [refused[1].clone()]);
        assert_eq!(timers.due_refusals(&BTreeSet::new()), [refused[0].clone()]);
        assert_eq!(timers.next_due(&busy), Instant::now().checked_add(REFRESH_EVERY));
    }
}
