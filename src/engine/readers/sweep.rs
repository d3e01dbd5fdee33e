//! Drift: reads the service's lists from time to time, and turns each difference from the applied
//! state into one that the planner sees.
//!
//! A read without differences writes nothing. The time of each list's last read is known to this
//! process alone: after a restart only the last known state remains.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rand_core::Rng;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::sweep_task;
use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::client::gate::Urgency;
use crate::engine::core::coordinator::Engine;
use crate::engine::core::handles::EngineError;
use crate::engine::executor::access::CredentialSource;
use crate::engine::queries::protocol::Reply;
use crate::engine::queries::views::{Confidence, ListReadView};
use crate::kinds::planning::step::MERCHANT;
use crate::kinds::register;
use crate::kinds::register::READ_BACKS;
use crate::kinds::remote::readback::ReadBack;
use crate::model::plans::change::PlannedAction;
use crate::model::plans::plan::Step;
use crate::model::state::observed::Observed;
use crate::plan::state_view::StateView;

/// Delay before a failed read is repeated.
const AGAIN: Duration = Duration::from_mins(1);
/// Divisor of the interval that gives the largest advance of a read, so that the reads are spread.
const JITTER_PARTS: u32 = 5;

/// One list of one merchant.
pub(crate) type MerchantList = (Key, &'static str);

/// The schedule of list reads, and their results.
#[derive(Debug, Default)]
pub(crate) struct SweepSchedule {
    /// True if lists are read on schedule.
    on: bool,
    due: BTreeSet<(Instant, MerchantList)>,
    known: BTreeSet<MerchantList>,
    under_way: BTreeSet<MerchantList>,
    seen: BTreeMap<MerchantList, ListSeen>,
    waiters: Vec<oneshot::Sender<Reply>>,
}

/// The result of a list read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListSeen {
    /// All of it was read at this time.
    At(DateTime<Utc>),
    /// The service has no such list.
    Never,
}

/// The result of one list read, for the engine.
#[derive(Debug)]
pub struct SweepResult {
    pub(crate) list: MerchantList,
    /// `None` if the list could not be read.
    pub(crate) seen: Option<ListSeen>,
    /// The resources with new information.
    pub(crate) touched: BTreeSet<Key>,
}

impl Engine {
    /// Reads every list on schedule from now on.
    pub fn start_sweeps(&mut self) {
        self.sweeps.on = true;
        self.start_event_polls();
        for merchant in self.merchants() {
            self.schedule_sweeps(&merchant);
        }
    }

    /// Returns every merchant.
    pub(crate) fn merchants(&self) -> Vec<Key> {
        let merchants = self.planner.steps().filter(|step| step.key.kind.as_str() == MERCHANT);
        merchants.map(|step| step.key.clone()).collect()
    }

    /// Schedules reads of a merchant's lists.
    pub(crate) fn schedule_sweeps(&mut self, merchant: &Key) {
        if !self.sweeps.on || merchant.kind.as_str() != MERCHANT {
            return;
        }
        for back in READ_BACKS {
            let list = (merchant.clone(), back.list_name);
            if self.sweeps.known.insert(list.clone()) {
                let wait = self.shared.random(|rng| random_part(back.interval, rng));
                self.sweep_after(list, wait);
            }
        }
    }

    fn sweep_after(&mut self, list: MerchantList, wait: Duration) {
        if let Some(due) = Instant::now().checked_add(wait) {
            self.sweeps.due.insert((due, list));
        }
    }

    /// Returns the time of the next list read.
    pub(crate) fn next_sweep(&self) -> Option<Instant> {
        self.sweeps.due.first().map(|(due, _)| *due)
    }

    /// Reads every list that is due.
    pub(crate) fn sweep(&mut self) {
        let now = Instant::now();
        while let Some((due, list)) = self.sweeps.due.pop_first() {
            if due > now {
                self.sweeps.due.insert((due, list));
                return;
            }
            self.start_sweep(list);
        }
    }

    /// Reads every list now, and answers with the plan once that is done.
    pub(crate) fn refresh(&mut self, reply: oneshot::Sender<Reply>) {
        self.sweeps.waiters.push(reply);
        self.sweep_all();
        self.answer_refreshes();
    }

    fn sweep_all(&mut self) {
        for merchant in self.merchants() {
            for back in READ_BACKS {
                self.start_sweep((merchant.clone(), back.list_name));
            }
        }
    }

    /// Does the same in a process without other tasks.
    pub async fn sweep_everything(&mut self) -> Result<(), EngineError> {
        self.sweep_all();
        while let Some(finished) = self.tasks.join_next().await {
            self.finish(finished?)?;
        }
        Ok(())
    }

    /// Starts to read a list, unless a read is under way or the merchant is not ready.
    fn start_sweep(&mut self, list: MerchantList) {
        let ready = self.planner.step(&list.0).is_some_and(|step| step.ready);
        let ready = ready && !self.is_being_removed(&list.0);
        let Some(back) = read_back_of(list.1).filter(|_| ready && !self.stopping) else {
            return self.retry_sweep(list);
        };
        if !self.sweeps.under_way.insert(list.clone()) {
            return;
        }
        let wallet = CredentialSource { urgency: Urgency::Poll, ..self.credential_source(&list.0) };
        let shared = self.shared.clone();
        let ignored = self.ignored_drift();
        self.tasks
            .spawn(async move { sweep_task::sweep(&shared, list, back, &wallet, &ignored).await });
    }

    /// Returns true if a list of this merchant is being read.
    pub(crate) fn is_being_read(&self, merchant: &Key) -> bool {
        let swept = self.sweeps.under_way.iter().any(|(one, _)| one == merchant);
        swept || self.is_polling(merchant)
    }

    /// Returns true if a merchant without a document is about to revoke its authorization.
    pub(crate) fn is_being_removed(&self, merchant: &Key) -> bool {
        let goes = |step: &Arc<Step>| step.action == PlannedAction::Delete;
        let goes = self.planner.step(merchant).is_some_and(goes) || self.busy.contains(merchant);
        goes && !self.known_state.desired().manifests.contains_key(merchant)
    }

    fn retry_sweep(&mut self, list: MerchantList) {
        if self.sweeps.on {
            self.sweep_after(list, AGAIN);
        }
    }

    /// Returns the documents that ignore drift, with the ignored fields.
    pub(crate) fn ignored_drift(&self) -> BTreeMap<Key, Box<[String]>> {
        let manifests = self.known_state.desired().manifests.values();
        let ignoring = manifests.filter(|one| !one.annotations.ignore_drift.is_empty());
        ignoring.map(|one| (one.key.clone(), one.annotations.ignore_drift.clone())).collect()
    }

    /// Handles the result of a list read.
    pub(crate) fn sweep_done(&mut self, swept: SweepResult) -> Result<(), EngineError> {
        let SweepResult { list, seen, touched } = swept;
        self.sweeps.under_way.remove(&list);
        self.requeue_waiting();
        let every = read_back_of(list.1).map_or(AGAIN, |back| back.interval);
        let wait = match seen {
            Some(seen) => {
                self.sweeps.seen.insert(list.clone(), seen);
                let early = every.checked_div(JITTER_PARTS).unwrap_or_default();
                every.saturating_sub(self.shared.random(|rng| random_part(early, rng)))
            }
            None => AGAIN,
        };
        if self.sweeps.on {
            self.sweep_after(list, wait);
        }
        for key in &touched {
            self.known_state.refresh(&self.shared.facts, key)?;
        }
        self.replan(touched);
        self.answer_refreshes();
        Ok(())
    }

    /// Answers the waiting refreshes, once no read is under way.
    fn answer_refreshes(&mut self) {
        if self.sweeps.under_way.is_empty() && !self.sweeps.waiters.is_empty() {
            let plan = self.plan_view();
            for waiter in self.sweeps.waiters.drain(..) {
                // The asker may have gone away.
                drop(waiter.send(Reply::Plan(Box::new(plan.clone()))));
            }
        }
    }

    /// Returns the confidence in an object's known state, and the time of its verification.
    pub(crate) fn confidence(
        &self,
        key: &Key,
        known: &Observed,
    ) -> Option<(Confidence, Option<String>)> {
        let applied = known.applied.as_ref().filter(|_| known.exists)?;
        let row = register::find(key.kind.as_str())?;
        let seen = (row.read_back)(&applied.spec)
            .map(|back| self.sweeps.seen.get(&(known.merchant.clone(), back.list_name)));
        Some(match seen {
            None | Some(Some(ListSeen::Never)) => (Confidence::CannotBeVerified, None),
            Some(None) => (Confidence::LastKnown, None),
            Some(Some(ListSeen::At(at))) => {
                (Confidence::Verified, Some(timestamp(&known.at.max(*at))))
            }
        })
    }

    /// Returns the lists read so far, by merchant and list.
    pub(crate) fn list_reads(&self) -> Vec<ListReadView> {
        let view = |((merchant, list), seen): (&MerchantList, &ListSeen)| ListReadView {
            merchant: merchant.short(),
            list: (*list).to_owned(),
            at: match seen {
                ListSeen::At(at) => Some(timestamp(at)),
                ListSeen::Never => None,
            },
        };
        self.sweeps.seen.iter().map(view).collect()
    }
}

/// Returns the list of this name.
fn read_back_of(name: &str) -> Option<&'static ReadBack> {
    READ_BACKS.iter().copied().find(|back| back.list_name == name)
}

/// Returns a random part of a duration.
fn random_part(whole: Duration, rng: &mut dyn Rng) -> Duration {
    let millis = u64::try_from(whole.as_millis()).unwrap_or(u64::MAX).max(1);
    Duration::from_millis(rng.next_u64().checked_rem(millis).unwrap_or(0))
}
