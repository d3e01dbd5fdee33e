//! Drift: what the service shows is looked at from time to time, list by list, and whatever is not as it was put
//! there becomes a difference that the planner sees.
//!
//! Nothing is written for what is as it should be. When each list was last looked at is kept by this process alone:
//! after a restart it is only known what was last known.

mod compare;
mod strays;
mod task;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rand_core::Rng;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::Engine;
use super::access::Wallet;
use super::question::{Confidence, LookView, Reply};
use super::shared::EngineError;
use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::client::Urgency;
use crate::kinds::readback::ReadBack;
use crate::kinds::register::{self, READ_BACKS};
use crate::kinds::step::MERCHANT;
use crate::model::observed::Observed;
use crate::model::plan::{Step, Verdict};
use crate::plan::World;

pub(super) use strays::{found as unknown, ours};
pub(super) use task::look_at_each;

/// A look that failed is made again after this.
const AGAIN: Duration = Duration::from_mins(1);
/// Parts of the cadence by which a look may come earlier, so that not all come at once.
const JITTER_PARTS: u32 = 5;

/// One list of one merchant.
type List = (Key, &'static str);

/// Which lists are looked at when, and what came of it.
#[derive(Debug, Default)]
pub(super) struct Sweeps {
    /// Whether lists are looked at by themselves.
    on: bool,
    due: BTreeSet<(Instant, List)>,
    known: BTreeSet<List>,
    under_way: BTreeSet<List>,
    seen: BTreeMap<List, Seen>,
    waiters: Vec<oneshot::Sender<Reply>>,
}

/// What a look at a list came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// All of it was read at this time.
    At(DateTime<Utc>),
    /// The service has no such list.
    Never,
}

/// What a look at one list came to, for the engine.
#[derive(Debug)]
pub struct Swept {
    list: List,
    /// Nothing, if it could not be read.
    seen: Option<Seen>,
    /// The resources of which something new is known.
    pub(super) touched: BTreeSet<Key>,
}

impl Engine {
    /// Looks at every list from now on, each in its time.
    pub fn keep_looking(&mut self) {
        self.sweeps.on = true;
        self.hear_events();
        for merchant in self.merchants() {
            self.schedule_sweeps(&merchant);
        }
    }

    /// Every merchant there is.
    pub(super) fn merchants(&self) -> Vec<Key> {
        let merchants = self.planner.steps().filter(|step| step.key.kind.as_str() == MERCHANT);
        merchants.map(|step| step.key.clone()).collect()
    }

    /// Sees to it that a merchant's lists are looked at.
    pub(super) fn schedule_sweeps(&mut self, merchant: &Key) {
        if !self.sweeps.on || merchant.kind.as_str() != MERCHANT {
            return;
        }
        for back in READ_BACKS {
            let list = (merchant.clone(), back.list_name);
            if self.sweeps.known.insert(list.clone()) {
                let wait = self.shared.random(|rng| part(back.every, rng));
                self.sweep_after(list, wait);
            }
        }
    }

    fn sweep_after(&mut self, list: List, wait: Duration) {
        if let Some(due) = Instant::now().checked_add(wait) {
            self.sweeps.due.insert((due, list));
        }
    }

    /// When the next list is to be looked at.
    pub(super) fn next_sweep(&self) -> Option<Instant> {
        self.sweeps.due.first().map(|(due, _)| *due)
    }

    /// Looks at every list whose time has come.
    pub(super) fn sweep(&mut self) {
        let now = Instant::now();
        while let Some((due, list)) = self.sweeps.due.pop_first() {
            if due > now {
                self.sweeps.due.insert((due, list));
                return;
            }
            self.look_at(list);
        }
    }

    /// Looks at everything now, and answers with the plan once that is done.
    pub(super) fn refresh(&mut self, reply: oneshot::Sender<Reply>) {
        self.sweeps.waiters.push(reply);
        self.sweep_all();
        self.refreshed();
    }

    fn sweep_all(&mut self) {
        for merchant in self.merchants() {
            for back in READ_BACKS {
                self.look_at((merchant.clone(), back.list_name));
            }
        }
    }

    /// The same in a process in which nothing else runs.
    pub async fn look_at_everything(&mut self) -> Result<(), EngineError> {
        self.sweep_all();
        while let Some(finished) = self.tasks.join_next().await {
            self.finish(finished?)?;
        }
        Ok(())
    }

    /// Starts a look at a list, unless one is under way or the merchant is not ready.
    fn look_at(&mut self, list: List) {
        let ready = self.planner.step(&list.0).is_some_and(|step| step.ready);
        let ready = ready && !self.is_leaving(&list.0);
        let Some(back) = back(list.1).filter(|_| ready && !self.stopping) else {
            return self.look_later(list);
        };
        if !self.sweeps.under_way.insert(list.clone()) {
            return;
        }
        let wallet = Wallet { urgency: Urgency::Poll, ..self.wallet(&list.0) };
        let shared = self.shared.clone();
        let ignored = self.ignored();
        self.tasks.spawn(async move { task::sweep(&shared, list, back, &wallet, &ignored).await });
    }

    /// Whether a list of this merchant is being looked at.
    pub(super) fn is_looked_at(&self, merchant: &Key) -> bool {
        let swept = self.sweeps.under_way.iter().any(|(one, _)| one == merchant);
        swept || self.hears(merchant)
    }

    /// Whether a merchant without a document is about to give its authorization back.
    pub(super) fn is_leaving(&self, merchant: &Key) -> bool {
        let goes = |step: &Arc<Step>| step.verdict == Verdict::Delete;
        let goes = self.planner.step(merchant).is_some_and(goes) || self.busy.contains(merchant);
        goes && !self.world.desired().manifests.contains_key(merchant)
    }

    fn look_later(&mut self, list: List) {
        if self.sweeps.on {
            self.sweep_after(list, AGAIN);
        }
    }

    /// The documents whose drift is no matter of ours, and which fields of them.
    pub(super) fn ignored(&self) -> BTreeMap<Key, Box<[String]>> {
        let manifests = self.world.desired().manifests.values();
        let ignoring = manifests.filter(|one| !one.annotations.ignore_drift.is_empty());
        ignoring.map(|one| (one.key.clone(), one.annotations.ignore_drift.clone())).collect()
    }

    /// Takes in what a look came to.
    pub(super) fn swept(&mut self, swept: Swept) -> Result<(), EngineError> {
        let Swept { list, seen, touched } = swept;
        self.sweeps.under_way.remove(&list);
        self.let_waiting_go();
        let every = back(list.1).map_or(AGAIN, |back| back.every);
        let wait = match seen {
            Some(seen) => {
                self.sweeps.seen.insert(list.clone(), seen);
                let early = every.checked_div(JITTER_PARTS).unwrap_or_default();
                every.saturating_sub(self.shared.random(|rng| part(early, rng)))
            }
            None => AGAIN,
        };
        if self.sweeps.on {
            self.sweep_after(list, wait);
        }
        for key in &touched {
            self.world.refresh(&self.shared.facts, key)?;
        }
        self.look_again(touched);
        self.refreshed();
        Ok(())
    }

    /// Answers those who wait for a look at everything, once none is under way.
    fn refreshed(&mut self) {
        if self.sweeps.under_way.is_empty() && !self.sweeps.waiters.is_empty() {
            let plan = self.plan_view();
            for waiter in self.sweeps.waiters.drain(..) {
                // Whoever asked may have gone away.
                drop(waiter.send(Reply::Plan(Box::new(plan.clone()))));
            }
        }
    }

    /// What may be said of an object now, and when it was verified.
    pub(super) fn confidence(
        &self,
        key: &Key,
        known: &Observed,
    ) -> Option<(Confidence, Option<String>)> {
        let applied = known.applied.as_ref().filter(|_| known.exists)?;
        let row = register::find(key.kind.as_str())?;
        let seen = (row.read_back)(&applied.spec)
            .map(|back| self.sweeps.seen.get(&(known.merchant.clone(), back.list_name)));
        Some(match seen {
            None | Some(Some(Seen::Never)) => (Confidence::CannotBeVerified, None),
            Some(None) => (Confidence::LastKnown, None),
            Some(Some(Seen::At(at))) => (Confidence::Verified, Some(timestamp(&known.at.max(*at)))),
        })
    }

    /// What was looked at so far, by merchant and list.
    pub(super) fn looks(&self) -> Vec<LookView> {
        let view = |((merchant, list), seen): (&List, &Seen)| LookView {
            merchant: merchant.short(),
            list: (*list).to_owned(),
            at: match seen {
                Seen::At(at) => Some(timestamp(at)),
                Seen::Never => None,
            },
        };
        self.sweeps.seen.iter().map(view).collect()
    }
}

/// The list of this name.
fn back(name: &str) -> Option<&'static ReadBack> {
    READ_BACKS.iter().copied().find(|back| back.list_name == name)
}

/// A random part of a time.
fn part(whole: Duration, rng: &mut dyn Rng) -> Duration {
    let millis = u64::try_from(whole.as_millis()).unwrap_or(u64::MAX).max(1);
    Duration::from_millis(rng.next_u64().checked_rem(millis).unwrap_or(0))
}
