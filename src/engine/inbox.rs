//! The gateway's events: the times at which each merchant's are read, and the consequences for
//! their resources.
//!
//! A post only hastens the read. The list leaves no gaps: it is read once a minute from a durable
//! place, with an overlap. Posts that the list does not contain are looked up by their ids. Their
//! number is bounded, so that posts cannot cause unlimited calls to the service.

mod budget;
mod door;
mod recover;
mod round;
mod telling;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::access::Wallet;
use super::shared::EngineError;
use super::{Engine, Event};
use crate::base::id::Key;
use crate::client::Urgency;
use crate::kinds::step::MERCHANT;
use budget::Budget;
use recover::Recovery;
use round::Round;

pub(super) use door::Poked;
pub use door::{Inbox, Taken};
pub use recover::{Recovered, Recovering};
pub use round::Looked;

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
pub(super) struct Inboxes {
    /// True if events are read on schedule.
    on: bool,
    due: BTreeMap<Key, Instant>,
    listed: BTreeMap<Key, Instant>,
    /// Time at which this process last read each merchant's list to its end; the journal records it
    /// every ten minutes.
    pub(super) read_at: BTreeMap<Key, DateTime<Utc>>,
    budgets: BTreeMap<Key, Budget>,
    /// The period without a listener before this process began.
    away: Option<(DateTime<Utc>, DateTime<Utc>)>,
    under_way: BTreeSet<Key>,
    /// Lists that a person wants read again.
    recovery: Option<Recovery>,
}

impl Inboxes {
    /// Returns the earliest time at which a merchant's posts can be looked up, or its list be read
    /// early.
    fn soonest(&mut self, merchant: &Key, now: Instant) -> Instant {
        let budget = self.budgets.entry(merchant.clone()).or_default();
        if budget.left(now) > 0 {
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
    pub fn inbox(&self, events: mpsc::Sender<Event>) -> Inbox {
        Inbox::new(self.shared.clone(), events)
    }

    /// Starts to read every merchant's events on schedule.
    pub(super) fn hear_events(&mut self) {
        self.inboxes.on = true;
        let mut last = None;
        for merchant in self.merchants() {
            let ledger = self.shared.facts.event_ledger(&merchant).ok();
            last = last.max(ledger.and_then(|ledger| ledger.polled_at));
            self.schedule_events(&merchant);
        }
        self.inboxes.away = last.map(|last| (last, self.shared.now()));
    }

    /// Returns the period without a listener before this process began.
    pub(super) fn was_away(&self) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
        self.inboxes.away
    }

    /// Schedules a read of a merchant's events.
    pub(super) fn schedule_events(&mut self, merchant: &Key) {
        if self.inboxes.on && merchant.kind.as_str() == MERCHANT {
            self.inboxes.due.entry(merchant.clone()).or_insert_with(Instant::now);
        }
    }

    /// Schedules the merchants with new posts as early as their budget permits.
    pub(super) fn posted(&mut self) {
        let now = Instant::now();
        for merchant in self.shared.poked().all() {
            if !self.inboxes.on {
                self.shared.poked().forget(&merchant);
                continue;
            }
            let due = self.inboxes.soonest(&merchant, now);
            let due = self.inboxes.due.get(&merchant).map_or(due, |known| due.min(*known));
            self.inboxes.due.insert(merchant, due);
        }
    }

    /// Returns the time of the next read of any merchant's events.
    pub(super) fn next_look(&self) -> Option<Instant> {
        let idle = self.inboxes.due.iter().filter(|(key, _)| !self.inboxes.under_way.contains(key));
        idle.map(|(_, due)| *due).min()
    }

    /// Reads every merchant's events that are due.
    pub(super) fn look_at_events(&mut self) {
        let now = Instant::now();
        let due = self.inboxes.due.iter().filter(|(_, due)| **due <= now);
        let due: Vec<Key> = due.map(|(merchant, _)| merchant.clone()).collect();
        for merchant in due {
            if !self.inboxes.under_way.contains(&merchant) {
                self.look_at_merchant(merchant, now);
            }
        }
    }

    /// Starts a read of a merchant's events. A removed merchant is dropped, and one that is not
    /// ready is retried later.
    fn look_at_merchant(&mut self, merchant: Key, now: Instant) {
        self.inboxes.due.remove(&merchant);
        // Later posts signal again: this read may already be past them.
        self.shared.poked().forget(&merchant);
        let Some(step) = self.planner.step(&merchant) else {
            return self.not_recovered(&merchant, "its document is gone".to_owned());
        };
        if !step.ready || self.is_leaving(&merchant) || self.stopping {
            let why = format!("not connected yet: {}", step.reason);
            self.not_recovered(&merchant, why);
            return self.look_after(merchant, AGAIN);
        }
        let budget = self.inboxes.budgets.entry(merchant.clone()).or_default().left(now);
        let again = self.recovers(&merchant);
        let list = again.is_some() || self.lists(&merchant, now);
        let round = Round { list, again, read_backs: budget };
        if round.list {
            self.inboxes.listed.insert(merchant.clone(), now);
        }
        self.inboxes.under_way.insert(merchant.clone());
        let wallet = Wallet { urgency: Urgency::Poll, ..self.wallet(&merchant) };
        let (shared, ignored) = (self.shared.clone(), self.ignored());
        self.tasks.spawn(async move { round::look(&shared, &wallet, round, &ignored).await });
    }

    /// Returns true if the list is due: by its interval, or since more was posted than is looked up
    /// one by one.
    fn lists(&self, merchant: &Key, now: Instant) -> bool {
        let Some(listed) = self.inboxes.listed.get(merchant) else { return true };
        let since = now.saturating_duration_since(*listed);
        let few = self.shared.facts.events_waiting(merchant, POSTS_FEW.saturating_add(1));
        let many = few.is_ok_and(|few| few.len() > POSTS_FEW);
        since >= LIST_EVERY || (many && since >= LIST_LEAST)
    }

    fn look_after(&mut self, merchant: Key, wait: Duration) {
        let on = self.inboxes.on || self.recovers(&merchant).is_some();
        if let Some(due) = Instant::now().checked_add(wait).filter(|_| on) {
            let due = self.inboxes.due.get(&merchant).map_or(due, |known| due.min(*known));
            self.inboxes.due.insert(merchant, due);
        }
    }

    /// Returns the time at which a merchant's list of events was last read to its end, if ever.
    ///
    /// # Errors
    /// The state cannot be read.
    pub(super) fn list_read_at(
        &self,
        merchant: &Key,
    ) -> Result<Option<DateTime<Utc>>, EngineError> {
        let noted = self.shared.facts.event_ledger(merchant)?.polled_at;
        Ok(noted.max(self.inboxes.read_at.get(merchant).copied()))
    }

    /// Returns true while a merchant's events are being read.
    pub(super) fn hears(&self, merchant: &Key) -> bool {
        self.inboxes.under_way.contains(merchant)
    }

    /// Handles the result of a read.
    pub(super) fn looked(&mut self, looked: Looked) -> Result<(), EngineError> {
        let Looked { merchant, done, listed_at, again, count, trouble, read_backs, touched } =
            looked;
        if let Some(at) = listed_at {
            self.inboxes.read_at.insert(merchant.clone(), at);
        }
        self.inboxes.under_way.remove(&merchant);
        if again {
            self.recovered(&merchant, count, trouble);
        }
        self.let_waiting_go();
        let now = Instant::now();
        let budget = self.inboxes.budgets.entry(merchant.clone()).or_default();
        budget.took(read_backs, now);
        let waits = !self.shared.facts.events_waiting(&merchant, 1)?.is_empty();
        let wait = match (done, waits) {
            (false, _) => FAILED,
            (true, true) => budget.next().min(LIST_EVERY),
            (true, false) => self.to_next_list(&merchant, now),
        };
        let wait = if self.recovers(&merchant).is_some() { Duration::ZERO } else { wait };
        self.look_after(merchant, wait);
        for key in &touched {
            self.world.refresh(&self.shared.facts, key)?;
        }
        self.look_again(touched);
        // Payments change the health of resources that have no new step.
        self.catch_up()?;
        self.run_hooks()
    }

    fn to_next_list(&self, merchant: &Key, now: Instant) -> Duration {
        let listed = self.inboxes.listed.get(merchant);
        let since = listed.map_or(LIST_EVERY, |listed| now.saturating_duration_since(*listed));
        LIST_EVERY.saturating_sub(since)
    }
}
