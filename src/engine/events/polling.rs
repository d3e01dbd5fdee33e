//! The gateway's events: the times at which each merchant's are read, and the consequences for
//! their resources.
//!
//! A post only hastens the read. The list leaves no gaps: it is read once a minute from a durable
//! place, with an overlap. Posts that the list does not contain are looked up by their ids. Their
//! number is bounded, so that posts cannot cause unlimited calls to the service.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::budget::LookupQuota;
use super::poll;
use super::poll::{PollRequest, PollResult};
use super::receiver::EventReceiver;
use super::resync::EventResync;
use crate::base::id::Key;
use crate::client::gate::Urgency;
use crate::engine::core::coordinator::Engine;
use crate::engine::core::handles::EngineError;
use crate::engine::core::input::EngineInput;
use crate::engine::executor::access::CredentialSource;
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

/// The schedule of reads of merchants' events.
#[derive(Debug, Default)]
pub(crate) struct EventSchedule {
    /// True if events are read on schedule.
    on: bool,
    pub(crate) due: BTreeMap<Key, Instant>,
    listed: BTreeMap<Key, Instant>,
    /// Time at which this process last read each merchant's list to its end; the journal records it
    /// every ten minutes.
    pub(crate) read_at: BTreeMap<Key, DateTime<Utc>>,
    budgets: BTreeMap<Key, LookupQuota>,
    /// The period without a listener before this process began.
    away: Option<(DateTime<Utc>, DateTime<Utc>)>,
    under_way: BTreeSet<Key>,
    /// Lists that a person wants read again.
    pub(crate) recovery: Option<EventResync>,
}

impl EventSchedule {
    /// Returns the earliest time at which a merchant's posts can be looked up, or its list be read
    /// early.
    fn earliest_lookup(&mut self, merchant: &Key, now: Instant) -> Instant {
        let budget = self.budgets.entry(merchant.clone()).or_default();
        if budget.available(now) > 0 {
            return now;
        }
        let by_id = now.checked_add(budget.next());
        let list = self.listed.get(merchant).and_then(|listed| listed.checked_add(LIST_LEAST));
        [by_id, list].into_iter().flatten().min().map_or(now, |soonest| soonest.max(now))
    }
}

impl Engine {
    /// Builds the receiver for posts to merchants' addresses; `events` must be this engine's
    /// channel.
    pub fn event_receiver(&self, events: mpsc::Sender<EngineInput>) -> EventReceiver {
        EventReceiver::new(self.shared.clone(), events)
    }

    /// Starts to read every merchant's events on schedule.
    pub(crate) fn start_event_polls(&mut self) {
        self.event_schedule.on = true;
        let mut last = None;
        for merchant in self.merchants() {
            let ledger = self.shared.facts.event_ledger(&merchant).ok();
            last = last.max(ledger.and_then(|ledger| ledger.polled_at));
            self.schedule_events(&merchant);
        }
        self.event_schedule.away = last.map(|last| (last, self.shared.now()));
    }

    /// Returns the period without a listener before this process began.
    pub(crate) fn absence(&self) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
        self.event_schedule.away
    }

    /// Schedules a read of a merchant's events.
    pub(crate) fn schedule_events(&mut self, merchant: &Key) {
        if self.event_schedule.on && merchant.kind.as_str() == MERCHANT {
            self.event_schedule.due.entry(merchant.clone()).or_insert_with(Instant::now);
        }
    }

    /// Schedules the merchants with new posts as early as their budget permits.
    pub(crate) fn posts_arrived(&mut self) {
        let now = Instant::now();
        for merchant in self.shared.unread_posts().all() {
            if !self.event_schedule.on {
                self.shared.unread_posts().forget(&merchant);
                continue;
            }
            let due = self.event_schedule.earliest_lookup(&merchant, now);
            let due = self.event_schedule.due.get(&merchant).map_or(due, |known| due.min(*known));
            self.event_schedule.due.insert(merchant, due);
        }
    }

    /// Returns the time of the next read of any merchant's events.
    pub(crate) fn next_event_poll(&self) -> Option<Instant> {
        let idle = self
            .event_schedule
            .due
            .iter()
            .filter(|(key, _)| !self.event_schedule.under_way.contains(key));
        idle.map(|(_, due)| *due).min()
    }

    /// Reads every merchant's events that are due.
    pub(crate) fn start_due_polls(&mut self) {
        let now = Instant::now();
        let due = self.event_schedule.due.iter().filter(|(_, due)| **due <= now);
        let due: Vec<Key> = due.map(|(merchant, _)| merchant.clone()).collect();
        for merchant in due {
            if !self.event_schedule.under_way.contains(&merchant) {
                self.start_poll(merchant, now);
            }
        }
    }

    /// Starts a read of a merchant's events. A removed merchant is dropped, and one that is not
    /// ready is retried later.
    fn start_poll(&mut self, merchant: Key, now: Instant) {
        self.event_schedule.due.remove(&merchant);
        // Later posts signal again: this read may already be past them.
        self.shared.unread_posts().forget(&merchant);
        let Some(step) = self.planner.step(&merchant) else {
            return self.list_not_readable(&merchant, "its document is gone".to_owned());
        };
        if !step.ready || self.is_being_removed(&merchant) || self.stopping {
            let why = format!("not connected yet: {}", step.reason);
            self.list_not_readable(&merchant, why);
            return self.schedule_poll(merchant, AGAIN);
        }
        let budget =
            self.event_schedule.budgets.entry(merchant.clone()).or_default().available(now);
        let again = self.resync_start(&merchant);
        let list = again.is_some() || self.is_list_due(&merchant, now);
        let round = PollRequest { list, again, read_backs: budget };
        if round.list {
            self.event_schedule.listed.insert(merchant.clone(), now);
        }
        self.event_schedule.under_way.insert(merchant.clone());
        let wallet =
            CredentialSource { urgency: Urgency::Poll, ..self.credential_source(&merchant) };
        let (shared, ignored) = (self.shared.clone(), self.ignored_drift());
        self.tasks.spawn(async move { poll::poll(&shared, &wallet, round, &ignored).await });
    }

    /// Returns true if the list is due: by its interval, or since more was posted than is looked up
    /// one by one.
    fn is_list_due(&self, merchant: &Key, now: Instant) -> bool {
        let Some(listed) = self.event_schedule.listed.get(merchant) else { return true };
        let since = now.saturating_duration_since(*listed);
        let few = self.shared.facts.events_waiting(merchant, POSTS_FEW.saturating_add(1));
        let many = few.is_ok_and(|few| few.len() > POSTS_FEW);
        since >= LIST_EVERY || (many && since >= LIST_LEAST)
    }

    fn schedule_poll(&mut self, merchant: Key, wait: Duration) {
        let on = self.event_schedule.on || self.resync_start(&merchant).is_some();
        if let Some(due) = Instant::now().checked_add(wait).filter(|_| on) {
            let due = self.event_schedule.due.get(&merchant).map_or(due, |known| due.min(*known));
            self.event_schedule.due.insert(merchant, due);
        }
    }

    /// Returns the time at which a merchant's list of events was last read to its end, if ever.
    ///
    /// # Errors
    /// The state cannot be read.
    pub(crate) fn list_read_at(
        &self,
        merchant: &Key,
    ) -> Result<Option<DateTime<Utc>>, EngineError> {
        let noted = self.shared.facts.event_ledger(merchant)?.polled_at;
        Ok(noted.max(self.event_schedule.read_at.get(merchant).copied()))
    }

    /// Returns true while a merchant's events are being read.
    pub(crate) fn is_polling(&self, merchant: &Key) -> bool {
        self.event_schedule.under_way.contains(merchant)
    }

    /// Handles the result of a read.
    pub(crate) fn poll_done(&mut self, looked: PollResult) -> Result<(), EngineError> {
        let PollResult { merchant, done, listed_at, again, count, trouble, read_backs, touched } =
            looked;
        if let Some(at) = listed_at {
            self.event_schedule.read_at.insert(merchant.clone(), at);
        }
        self.event_schedule.under_way.remove(&merchant);
        if again {
            self.list_resynced(&merchant, count, trouble);
        }
        self.requeue_waiting();
        let now = Instant::now();
        let budget = self.event_schedule.budgets.entry(merchant.clone()).or_default();
        budget.spend(read_backs, now);
        let waits = !self.shared.facts.events_waiting(&merchant, 1)?.is_empty();
        let wait = match (done, waits) {
            (false, _) => FAILED,
            (true, true) => budget.next().min(LIST_EVERY),
            (true, false) => self.to_next_list(&merchant, now),
        };
        let wait = if self.resync_start(&merchant).is_some() { Duration::ZERO } else { wait };
        self.schedule_poll(merchant, wait);
        for key in &touched {
            self.known_state.refresh(&self.shared.facts, key)?;
        }
        self.replan(touched);
        // Payments change the health of resources that have no new step.
        self.catch_up()?;
        self.run_hooks()
    }

    fn to_next_list(&self, merchant: &Key, now: Instant) -> Duration {
        let listed = self.event_schedule.listed.get(merchant);
        let since = listed.map_or(LIST_EVERY, |listed| now.saturating_duration_since(*listed));
        LIST_EVERY.saturating_sub(since)
    }
}
