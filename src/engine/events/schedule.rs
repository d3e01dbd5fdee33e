//! The gateway's events: the times at which each merchant's are read, and the consequences for
//! their resources.
//!
//! A post only hastens the read. The list leaves no gaps: it is read once a minute from a durable
//! place, with an overlap. Posts that the list does not contain are looked up by their ids. Their
//! number is bounded by a burst, and then one call at a time, so that posts cannot cause unlimited calls.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::base::id::Key;
use crate::base::timers::Timers;
use crate::engine::events::poll::{self, PollRequest};
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::handles::task_result::{PollResult, Task};
use crate::engine::known::known_state::Snapshot;
use crate::engine::protocol::events::{ResyncEvents, ResyncedEvents};
use crate::engine::protocol::query::Reply;
use crate::kinds::planning::step::MERCHANT;

/// Interval between two reads of a merchant's list of events.
const LIST_EVERY: Duration = Duration::from_mins(1);
/// Number of waiting posts above which the list is read at once: a page of it has a hundred events.
const POSTS_FEW: usize = 20;
/// Shortest interval between two reads of the list, whatever number is posted.
const LIST_LEAST: Duration = Duration::from_secs(5);
/// Delay before a merchant that is not ready is tried again.
const AGAIN: Duration = Duration::from_secs(5);
/// Delay before a failed read is repeated.
const FAILED: Duration = Duration::from_secs(30);
const LOOKUPS_MAX: usize = 60;
const REFILL: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub(crate) struct EventSchedule {
    on: bool,
    pub(crate) due: Timers<Key, Instant>,
    listed: BTreeMap<Key, Instant>,
    /// Time of this process's last complete read of each list; the journal notes it at intervals.
    pub(crate) read_at: BTreeMap<Key, DateTime<Utc>>,
    budgets: BTreeMap<Key, LookupQuota>,
    /// The period without a listener before this process began.
    pub(crate) away: Option<(DateTime<Utc>, DateTime<Utc>)>,
    pub(crate) under_way: BTreeSet<Key>,
    /// Lists that a person wants read again.
    pub(crate) recovery: Option<EventResync>,
}

impl EventSchedule {
    /// Returns the earliest time at which a merchant's posts are looked up, or its list read.
    fn earliest_lookup(&mut self, merchant: &Key, now: Instant) -> Instant {
        let budget = self.budgets.entry(merchant.clone()).or_default();
        if budget.available(now) > 0 {
            return now;
        }
        let by_id = now.checked_add(budget.next());
        let list = self.listed.get(merchant).and_then(|listed| listed.checked_add(LIST_LEAST));
        [by_id, list].into_iter().flatten().min().map_or(now, |soonest| soonest.max(now))
    }

    /// Reads these merchants' events on schedule from now on.
    pub(crate) fn start(&mut self, merchants: &[Key], shared: &EngineShared) {
        self.on = true;
        let mut last = None;
        for merchant in merchants {
            let ledger = shared.facts.event_ledger(merchant).ok();
            last = last.max(ledger.and_then(|ledger| ledger.polled_at));
            self.schedule(merchant);
        }
        self.away = last.map(|last| (last, shared.now()));
    }

    pub(crate) fn schedule(&mut self, merchant: &Key) {
        if self.on && merchant.kind.as_str() == MERCHANT && self.due.due(merchant).is_none() {
            self.due.set(merchant.clone(), Some(Instant::now()));
        }
    }

    /// Schedules the merchants with new posts as early as their budget permits.
    pub(crate) fn posts_arrived(&mut self, shared: &EngineShared) {
        let now = Instant::now();
        for merchant in shared.unread_posts.all() {
            if !self.on {
                shared.unread_posts.remove(&merchant);
                continue;
            }
            let due = self.earliest_lookup(&merchant, now);
            self.due.set_earlier(merchant, due);
        }
    }

    /// Returns the time of the next read; the merchants being read now are few.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        let mut due = self.due.in_order();
        due.find(|(_, merchant)| !self.under_way.contains(*merchant)).map(|(due, _)| due)
    }

    /// Returns the reads of merchants' events that are due: at most `slots`.
    pub(crate) fn due_polls(&mut self, cx: Snapshot<'_>, slots: usize) -> Vec<Task> {
        let now = Instant::now();
        let due = self.due.due_by(now).filter(|merchant| !self.under_way.contains(*merchant));
        let due: Vec<Key> = due.take(slots).cloned().collect();
        due.into_iter().filter_map(|merchant| self.start_poll(merchant, now, cx)).collect()
    }

    /// Returns the read of a merchant's events; a removed one is dropped, an unready one retried.
    fn start_poll(&mut self, merchant: Key, now: Instant, cx: Snapshot<'_>) -> Option<Task> {
        self.due.set(merchant.clone(), None);
        // Later posts signal again: this read may already be past them.
        cx.shared.unread_posts.remove(&merchant);
        let Some(step) = cx.planner.step(&merchant) else {
            self.list_unreadable(&merchant, "its document is gone".to_owned(), cx.shared);
            return None;
        };
        if !step.ready || cx.is_being_removed(&merchant) || cx.stopping {
            let why = format!("not connected yet: {}", step.reason);
            self.list_unreadable(&merchant, why, cx.shared);
            self.schedule_poll(merchant, AGAIN);
            return None;
        }
        let read_backs = self.budgets.entry(merchant.clone()).or_default().available(now);
        let again = self.resync_start(&merchant);
        let list = again.is_some() || self.is_list_due(&merchant, now, cx.shared);
        let round = PollRequest { list, again, read_backs };
        if list {
            self.listed.insert(merchant.clone(), now);
        }
        self.under_way.insert(merchant.clone());
        let (shared, wallet) = (cx.shared.clone(), cx.poll_credentials(&merchant));
        let ignored = cx.ignored_drift();
        Some(Box::pin(async move { poll::poll(&shared, &wallet, round, &ignored).await }))
    }

    /// Returns true if the list is due: by its interval, or for more posts than are looked up.
    fn is_list_due(&self, merchant: &Key, now: Instant, shared: &EngineShared) -> bool {
        let Some(listed) = self.listed.get(merchant) else { return true };
        let since = now.saturating_duration_since(*listed);
        let few = shared.facts.events_waiting(merchant, POSTS_FEW.saturating_add(1));
        let many = few.is_ok_and(|few| few.len() > POSTS_FEW);
        since >= LIST_EVERY || (many && since >= LIST_LEAST)
    }

    fn schedule_poll(&mut self, merchant: Key, wait: Duration) {
        let on = self.on || self.resync_start(&merchant).is_some();
        if let Some(due) = Instant::now().checked_add(wait).filter(|_| on) {
            self.due.set_earlier(merchant, due);
        }
    }

    /// Returns the time at which a merchant's list of events was last read to its end, if ever.
    pub(crate) fn list_read_at(
        &self,
        merchant: &Key,
        shared: &EngineShared,
    ) -> EngineResult<Option<DateTime<Utc>>> {
        let noted = shared.facts.event_ledger(merchant)?.polled_at;
        Ok(noted.max(self.read_at.get(merchant).copied()))
    }

    /// Notes the end of a read: the answer of a recovery, if one waits for it.
    pub(crate) fn end(&mut self, looked: &PollResult, shared: &EngineShared) {
        if let Some(at) = looked.listed_at {
            self.read_at.insert(looked.merchant.clone(), at);
        }
        self.under_way.remove(&looked.merchant);
        if looked.again {
            self.list_resynced(looked, shared);
        }
    }

    /// Schedules the next read after one that has ended.
    pub(crate) fn schedule_next(
        &mut self,
        looked: &PollResult,
        shared: &EngineShared,
    ) -> EngineResult<()> {
        let (merchant, now) = (looked.merchant.clone(), Instant::now());
        let budget = self.budgets.entry(merchant.clone()).or_default();
        budget.spend(looked.read_backs, now);
        let waits = !shared.facts.events_waiting(&merchant, 1)?.is_empty();
        let wait = match (looked.done, waits) {
            (false, _) => FAILED,
            (true, true) => budget.next().min(LIST_EVERY),
            (true, false) => {
                let listed = self.listed.get(&merchant);
                let since = listed.map_or(LIST_EVERY, |at| now.saturating_duration_since(*at));
                LIST_EVERY.saturating_sub(since)
            }
        };
        let wait = if self.resync_start(&merchant).is_some() { Duration::ZERO } else { wait };
        self.schedule_poll(merchant, wait);
        Ok(())
    }
}

/// A recovery under way.
#[derive(Debug)]
pub(crate) struct EventResync {
    pub(crate) asked: ResyncEvents,
    pub(crate) left: BTreeSet<Key>,
    pub(crate) done: Vec<ResyncedEvents>,
    pub(crate) reply: oneshot::Sender<Reply>,
}

/// The remaining lookups for one merchant's posts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LookupQuota {
    left: usize,
    since: Option<Instant>,
}

impl Default for LookupQuota {
    fn default() -> Self {
        Self { left: LOOKUPS_MAX, since: None }
    }
}

impl LookupQuota {
    /// Returns the number of posts that may be looked up now.
    pub(crate) fn available(&mut self, now: Instant) -> usize {
        let Some(since) = self.since else { return self.left };
        let passed = now.saturating_duration_since(since).as_secs();
        let gained = passed.checked_div(REFILL.as_secs()).unwrap_or_default();
        let gained = usize::try_from(gained).unwrap_or(LOOKUPS_MAX);
        if gained > 0 {
            self.left = self.left.saturating_add(gained).min(LOOKUPS_MAX);
            self.since = (self.left < LOOKUPS_MAX).then_some(now);
        }
        self.left
    }

    pub(crate) fn spend(&mut self, read_backs: usize, now: Instant) {
        self.left = self.left.saturating_sub(read_backs);
        if read_backs > 0 {
            self.since.get_or_insert(now);
        }
    }

    /// Returns the wait until one more lookup is permitted.
    pub(crate) fn next(&self) -> Duration {
        if self.left > 0 { Duration::ZERO } else { REFILL }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_is_posted_makes_us_call_in_bounded_number() {
        let start = Instant::now();
        let mut budget = LookupQuota::default();
        assert_eq!(budget.available(start), 60);
        budget.spend(60, start);
        assert_eq!((budget.available(start), budget.next()), (0, REFILL));
        let later = |seconds| start.checked_add(Duration::from_secs(seconds)).unwrap();
        assert_eq!(budget.available(later(5)), 2);
        assert_eq!(budget.available(later(3600)), 60, "it grows no further");
    }
}
