//! Drift: reads the service's lists from time to time, and turns each difference from the applied
//! state into one that the planner sees.
//!
//! A read without differences writes nothing. The time of each list's last read is known to this
//! process alone: after a restart only the last known state remains. After a restore the lists are first
//! read soon after the calls of the lost state are over: what those changed is found then.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use rand_core::Rng;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::base::timers::Timers;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::handles::task_result::{ListSeen, MerchantList, Task};
use crate::engine::known::known_state::Snapshot;
use crate::engine::protocol::query::Reply;
use crate::engine::protocol::views::{Confidence, ListReadView};
use crate::engine::readers::sweep_task;
use crate::kinds::planning::step::MERCHANT;
use crate::kinds::register::{self, read_backs};
use crate::kinds::remote::readback::ReadBack;
use crate::model::state::observed::Observed;

/// Delay before a failed read is repeated.
const AGAIN: Duration = Duration::from_mins(1);
/// Divisor of the interval that gives the largest advance of a read, so that the reads are spread.
const JITTER_PARTS: u32 = 5;
/// The reads after a restore are spread over this time.
const REVIEW_SPREAD: Duration = Duration::from_mins(2);

/// The schedule of list reads, and their results.
#[derive(Debug, Default)]
pub(crate) struct SweepSchedule {
    on: bool,
    due: Timers<MerchantList, Instant>,
    known: BTreeSet<MerchantList>,
    under_way: BTreeSet<MerchantList>,
    seen: BTreeMap<MerchantList, ListSeen>,
    requested: VecDeque<MerchantList>,
    /// Refreshes that wait for the reads under way.
    pub(crate) waiters: Vec<oneshot::Sender<Reply>>,
}

impl SweepSchedule {
    /// Reads the lists of these merchants on schedule from now on.
    pub(crate) fn start(&mut self, merchants: &[Key], shared: &EngineShared) -> EngineResult<()> {
        self.on = true;
        merchants.iter().try_for_each(|merchant| self.schedule(merchant, shared))
    }

    pub(crate) fn schedule(&mut self, merchant: &Key, shared: &EngineShared) -> EngineResult<()> {
        if !self.on || merchant.kind.as_str() != MERCHANT {
            return Ok(());
        }
        for back in read_backs() {
            let list = (merchant.clone(), back.list_name);
            if self.known.insert(list.clone()) {
                self.sweep_after(list, first_wait(back, shared)?);
            }
        }
        Ok(())
    }

    fn sweep_after(&mut self, list: MerchantList, wait: Duration) {
        if self.on {
            self.due.set(list, Instant::now().checked_add(wait));
        }
    }

    pub(crate) fn next_due(&self) -> Option<Instant> {
        let requested = self.requested.front().map(|_| Instant::now());
        requested.or_else(|| self.due.next_due())
    }

    pub(crate) fn request(&mut self, merchants: &[Key]) {
        for merchant in merchants {
            let lists = read_backs().map(|back| (merchant.clone(), back.list_name));
            self.requested.extend(lists);
        }
    }

    /// Returns the reads of requested lists and of those that are due: at most `slots`.
    pub(crate) fn due_sweeps(&mut self, cx: Snapshot<'_>, slots: usize) -> Vec<Task> {
        let now = Instant::now();
        let mut sweeps = Vec::new();
        while sweeps.len() < slots {
            let next = self.requested.pop_front().or_else(|| self.due.pop_due(now));
            let Some(list) = next else { break };
            sweeps.extend(self.start_sweep(list, cx));
        }
        sweeps
    }

    /// Returns the read of a list, unless a read is under way or the merchant is not ready.
    fn start_sweep(&mut self, list: MerchantList, cx: Snapshot<'_>) -> Option<Task> {
        let ready = cx.planner.step(&list.0).is_some_and(|step| step.ready);
        let ready = ready && !cx.is_being_removed(&list.0) && !cx.stopping;
        let Some(back) = read_back_of(list.1).filter(|_| ready) else {
            self.sweep_after(list, AGAIN);
            return None;
        };
        if !self.under_way.insert(list.clone()) {
            return None;
        }
        let (shared, wallet) = (cx.shared.clone(), cx.poll_credentials(&list.0));
        let ignored = cx.ignored_drift();
        let task = async move { sweep_task::sweep(&shared, list, back, &wallet, &ignored).await };
        Some(Box::pin(task))
    }

    pub(crate) fn is_reading(&self, merchant: &Key) -> bool {
        self.under_way.iter().any(|(one, _)| one == merchant)
    }

    /// Notes the end of a list read, and schedules the next one.
    pub(crate) fn end(
        &mut self,
        list: &MerchantList,
        seen: Option<ListSeen>,
        shared: &EngineShared,
    ) {
        self.under_way.remove(list);
        let every = read_back_of(list.1).map_or(AGAIN, |back| back.interval);
        let wait = match seen {
            Some(seen) => {
                self.seen.insert(list.clone(), seen);
                let early = every.checked_div(JITTER_PARTS).unwrap_or_default();
                every.saturating_sub(shared.random(|rng| random_part(early, rng)))
            }
            None => AGAIN,
        };
        self.sweep_after(list.clone(), wait);
    }

    pub(crate) fn take_waiters(&mut self) -> Vec<oneshot::Sender<Reply>> {
        let is_idle = self.under_way.is_empty() && self.requested.is_empty();
        if is_idle { std::mem::take(&mut self.waiters) } else { Vec::new() }
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
            .map(|back| self.seen.get(&(known.merchant.clone(), back.list_name)));
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
        self.seen.iter().map(view).collect()
    }
}

/// Returns the wait before the first read of a list in this process.
fn first_wait(back: &ReadBack, shared: &EngineShared) -> EngineResult<Duration> {
    let lost = shared.rest_of_lost_calls()?;
    let spread = if lost.is_some() { REVIEW_SPREAD } else { back.interval };
    let part = shared.random(|rng| random_part(spread, rng));
    Ok(lost.unwrap_or_default().saturating_add(part))
}

fn read_back_of(name: &str) -> Option<&'static ReadBack> {
    read_backs().find(|back| back.list_name == name)
}

fn random_part(whole: Duration, rng: &mut dyn Rng) -> Duration {
    let millis = u64::try_from(whole.as_millis()).unwrap_or(u64::MAX).max(1);
    Duration::from_millis(rng.next_u64().checked_rem(millis).unwrap_or(0))
}
