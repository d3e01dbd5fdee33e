//! Reads merchants' lists of events again from some time on, at a person's request: after an outage
//! longer than the usual overlap, or with a state that has lost its events.
//!
//! It is the usual read, only from further back, so a known event changes nothing.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::engine::events::schedule::{EventResync, EventSchedule};
use crate::engine::handles::shared::EngineShared;
use crate::engine::handles::task_result::{PollResult, ResyncCount};
use crate::engine::protocol::events::{ResyncEvents, ResyncedEvents};
use crate::engine::protocol::input::ResyncRequest;
use crate::engine::protocol::query::Reply;
use crate::engine::protocol::unknown_names::no_merchant;

impl EventSchedule {
    /// Begins to read lists of events again; the reply follows once all of them were read. Lists that
    /// an earlier engine has read are not read again.
    pub(crate) fn begin_resync(
        &mut self,
        ResyncRequest { asked, done }: ResyncRequest,
        merchants: &[Key],
        reply: oneshot::Sender<Reply>,
    ) {
        let mut left = match self.lists_to_resync(&asked, merchants) {
            Ok(left) => left,
            // The asker may have gone away.
            Err(why) => return drop(reply.send(Reply::Recovered(Err(why)))),
        };
        left.retain(|merchant| done.iter().all(|list| list.merchant != merchant.short()));
        let now = Instant::now();
        for merchant in &left {
            self.due.set(merchant.clone(), Some(now));
        }
        self.recovery = Some(EventResync { asked, left, done, reply });
    }

    /// Returns a recovery that has not ended as a request for the next engine, and forgets it. Lists
    /// that were not read to their end are read again.
    pub(crate) fn take_resync(&mut self) -> Option<(ResyncRequest, oneshot::Sender<Reply>)> {
        let EventResync { asked, mut done, reply, .. } = self.recovery.take()?;
        done.retain(|list| list.trouble.is_none() && list.waits.is_none());
        Some((ResyncRequest { asked, done }, reply))
    }

    fn lists_to_resync(
        &self,
        asked: &ResyncEvents,
        merchants: &[Key],
    ) -> Result<BTreeSet<Key>, String> {
        if self.recovery.is_some() {
            return Err("a recovery of events is already running".to_owned());
        }
        let Some(wanted) = &asked.merchant else { return Ok(merchants.iter().cloned().collect()) };
        if merchants.contains(wanted) {
            return Ok([wanted.clone()].into());
        }
        Err(no_merchant(wanted, merchants))
    }

    /// Returns the start of a recovery's read of a merchant's list, and true if hooks are skipped.
    pub(crate) fn resync_start(&self, merchant: &Key) -> Option<(DateTime<Utc>, bool)> {
        let recovery = self.recovery.as_ref()?;
        let asked = &recovery.asked;
        recovery.left.contains(merchant).then_some((asked.since, asked.without_hooks))
    }

    /// Notes that a merchant's list was read, completely or not.
    pub(crate) fn list_resynced(&mut self, looked: &PollResult, shared: &EngineShared) {
        let outcome = (None, looked.trouble.clone());
        self.add_resynced(&looked.merchant, looked.count, outcome, shared);
    }

    pub(crate) fn list_unreadable(&mut self, merchant: &Key, waits: String, shared: &EngineShared) {
        self.add_resynced(merchant, ResyncCount::default(), (Some(waits), None), shared);
    }

    fn add_resynced(
        &mut self,
        merchant: &Key,
        count: ResyncCount,
        (waits, trouble): (Option<String>, Option<String>),
        shared: &EngineShared,
    ) {
        let horizon = shared.facts.event_ledger(merchant).ok();
        let horizon = horizon.and_then(|ledger| ledger.horizon);
        if let Some(recovery) = &mut self.recovery
            && recovery.left.remove(merchant)
        {
            let horizon = horizon.filter(|horizon| recovery.asked.since <= *horizon);
            let horizon = horizon.as_ref().map(timestamp);
            recovery.done.push(ResyncedEvents {
                merchant: merchant.short(),
                read: count.read,
                new: count.new,
                oldest: count.oldest.as_ref().map(timestamp),
                horizon,
                waits,
                trouble,
            });
        }
        self.end_resync();
    }

    pub(crate) fn end_resync(&mut self) {
        let over = |recovery: &mut EventResync| recovery.left.is_empty();
        if let Some(EventResync { mut done, reply, .. }) = self.recovery.take_if(over) {
            done.sort_by(|one, other| one.merchant.cmp(&other.merchant));
            drop(reply.send(Reply::Recovered(Ok(done))));
        }
    }
}

#[cfg(test)]
mod tests;
