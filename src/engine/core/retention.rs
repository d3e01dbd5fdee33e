//! Retention and compaction in the daemon.
//!
//! Settled events older than `events.keep` are dropped, a few at a time. Guarantees: the horizon stays
//! behind the read part of a merchant's list, so that no event is dropped, or treated as old, that was
//! never seen. The horizon never goes back, whatever the clock does.
//!
//! The state is compacted when it is due, or when a person asks for it, beside all other work on a
//! thread that may wait for disks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key};
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::kinds::planning::step::MERCHANT;
use crate::model::events::event::EventLedger;
use crate::model::record::Record;
use crate::model::state::lifecycle::EventsDropped;
use crate::store::error::OpenError;
use crate::store::state::compact::{ArchivePolicy, CompactionResult, Compactor};

/// Most events that one record drops: posts wait no longer than for the fold of this number.
const DROPPED_MAX: usize = 128;

#[derive(Debug, Clone)]
pub struct Retention {
    /// The time for which settled events are kept.
    pub keep: TimeDelta,
    /// The time between two searches for old data.
    pub every: Duration,
    /// The delay with which the list may show an event after a newer one.
    pub late: TimeDelta,
    /// Possible lead of our clock over the service's clock, by which events have their times.
    pub ahead: TimeDelta,
}

impl Retention {
    /// The delay of the service's list in production.
    pub const LATE: TimeDelta = TimeDelta::minutes(5);
    /// The lead of our clock in production.
    pub const AHEAD: TimeDelta = TimeDelta::days(1);
}

#[derive(Debug, Default)]
pub(crate) struct RetentionTimer {
    pub(crate) retention: Option<Retention>,
    pub(crate) due: Option<Instant>,
    /// The last intent that was checked for an old action.
    pub(crate) intent: Arc<AtomicU64>,
}

pub(crate) async fn drop_old_data(
    shared: &Arc<EngineShared>,
    (retention, read_at): (&Retention, &BTreeMap<Key, DateTime<Utc>>),
    intent: &AtomicU64,
) -> EngineResult<()> {
    for merchant in shared.facts.event_merchants()? {
        let ledger = shared.facts.event_ledger(&merchant)?;
        let times = (shared.now(), read_at.get(&merchant).copied());
        let Some(horizon) = horizon(&merchant, &ledger, times, retention) else { continue };
        let dropping = Dropping { shared, merchant: &merchant, horizon };
        dropping.drop_events().await?;
        dropping.drop_unmatched().await?;
    }
    drop_page(shared, intent).await
}

/// Returns the time up to which a merchant's events may be dropped; `None` before its list was
/// read. `read_at` is the time at which this process last read the list to its end. Only through it
/// do a quiet merchant's newest events become old.
fn horizon(
    merchant: &Key,
    ledger: &EventLedger,
    (now, read_at): (DateTime<Utc>, Option<DateTime<Utc>>),
    retention: &Retention,
) -> Option<DateTime<Utc>> {
    let old = now.checked_sub_signed(retention.keep)?;
    let seen = if merchant.kind.as_str() == MERCHANT {
        let told = ledger.polled_to?.checked_sub_signed(retention.late)?;
        told.max(read_at.and_then(|at| at.checked_sub_signed(retention.ahead)).unwrap_or(told))
    } else {
        old
    };
    Some(old.min(seen).max(ledger.horizon.unwrap_or(DateTime::<Utc>::MIN_UTC)))
}

/// Drops the data of a merchant up to its horizon.
struct Dropping<'a> {
    shared: &'a EngineShared,
    merchant: &'a Key,
    horizon: DateTime<Utc>,
}

impl Dropping<'_> {
    /// Drops a merchant's old events. Their numbers roughly follow their times: the search ends at a
    /// page without an old event, or at an event that a script was not run for.
    async fn drop_events(&self) -> EngineResult<()> {
        let Self { shared, merchant, horizon } = *self;
        let (mut after, ran_to) = (0, shared.facts.ran_by_all_scripts(merchant)?);
        loop {
            let page = shared.facts.events_after(merchant, after, DROPPED_MAX)?;
            let Some((last, _)) = page.last() else { return Ok(()) };
            let mut old = false;
            for (_, id) in &page {
                old |= shared.facts.is_older(merchant, id, horizon)?;
            }
            if shared.facts.can_drop_any(merchant, &page, horizon)? {
                let first = page.first().map_or(after, |(number, _)| number.saturating_sub(1));
                self.write(EventsDropped { events: (first, *last), ..self.nothing() }).await?;
            }
            if !old || *last > ran_to || shared.is_stopping() {
                return Ok(());
            }
            after = *last;
        }
    }

    /// Drops old posts that were no event of the merchant.
    async fn drop_unmatched(&self) -> EngineResult<()> {
        let Self { shared, merchant, horizon } = *self;
        let mut after: Option<String> = None;
        loop {
            let page = shared.facts.unmatched_after(merchant, after.as_deref(), DROPPED_MAX)?;
            let Some((last, _)) = page.last().cloned() else { break };
            let old = page.into_iter().filter(|(_, first)| *first <= horizon);
            let forged: Vec<String> = old.map(|(id, _)| id).collect();
            if !forged.is_empty() {
                self.write(EventsDropped { forged, ..self.nothing() }).await?;
            }
            after = Some(last);
        }
        let old = shared.facts.malformed_bodies(merchant)?.into_iter();
        let old = old.filter(|(_, at)| *at <= horizon);
        let old: Vec<Digest> = old.map(|(digest, _)| digest).collect();
        for some in old.chunks(DROPPED_MAX) {
            self.write(EventsDropped { malformed: some.to_vec(), ..self.nothing() }).await?;
        }
        Ok(())
    }

    fn nothing(&self) -> EventsDropped {
        EventsDropped {
            merchant: self.merchant.clone(),
            horizon: self.horizon,
            events: (0, 0),
            forged: Vec::new(),
            malformed: Vec::new(),
            actions: Vec::new(),
            at: self.shared.now(),
        }
    }

    async fn write(&self, dropped: EventsDropped) -> EngineResult<()> {
        self.shared.write(Vec::new(), vec![Record::EventsDropped(Box::new(dropped))]).await
    }
}

const INTENTS_MAX: usize = 4096;

/// Checks the next page of intents; after the last page it starts again.
pub(super) async fn drop_page(shared: &EngineShared, last: &AtomicU64) -> EngineResult<()> {
    let after = IntentId::new(last.load(Ordering::Relaxed));
    let page = shared.facts.intents_after(after, INTENTS_MAX)?;
    last.store(page.last().map_or(0, |(intent, _)| intent.get()), Ordering::Relaxed);
    let pending = shared.facts.pending_actions()?;
    let mut old: BTreeMap<Key, Vec<(IntentId, Key)>> = BTreeMap::new();
    for (intent, promise) in page {
        let merchant = shared.facts.merchant_of_old_action(&promise.key, shared.now())?;
        if let Some(merchant) = merchant.filter(|_| !pending.contains(&promise.key)) {
            old.entry(merchant).or_default().push((intent, promise.key));
        }
    }
    for (merchant, actions) in old {
        // Without a horizon a repeated hook run is not ruled out.
        let Some(horizon) = shared.facts.event_ledger(&merchant)?.horizon else { continue };
        let dropping = Dropping { shared, merchant: &merchant, horizon };
        for some in actions.chunks(DROPPED_MAX) {
            let dropped = EventsDropped { actions: some.to_vec(), ..dropping.nothing() };
            dropping.write(dropped).await?;
        }
    }
    Ok(())
}

/// Actor of compactions that no person asked for.
pub(crate) const DAEMON_ACTOR: &str = "reckon";

#[derive(Debug, Clone)]
pub struct CompactionPlan {
    pub compactor: Arc<Compactor>,
    /// Treatment of the records that a snapshot replaces.
    pub history: ArchivePolicy,
    /// True if the daemon compacts without a request.
    pub automatic: bool,
}

/// Runs a future on a thread that may wait for disks. Closing the state waits for it.
pub(crate) fn spawn_blocking_task(work: impl Future<Output = ()> + Send + 'static) {
    let runtime = Handle::current();
    drop(tokio::task::spawn_blocking(move || runtime.block_on(work)));
}

pub(crate) fn log_compaction(done: &Result<CompactionResult, OpenError>) {
    match done {
        Ok(done) => {
            let (before, after) = (done.before.total(), done.after.total());
            tracing::info!(before, after, segments = done.segments, "the state was compacted");
        }
        Err(OpenError::Closing) => {}
        Err(error) => tracing::error!(%error, "cannot compact the state"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATE: TimeDelta = Retention::LATE;

    #[test]
    fn the_horizon_stays_behind_what_was_read_and_never_goes_back() {
        let at = |days| DateTime::UNIX_EPOCH + TimeDelta::days(days);
        let merchant: Key = "Merchant/acme".parse().unwrap();
        let retention = Retention {
            keep: TimeDelta::days(10),
            every: Duration::ZERO,
            late: LATE,
            ahead: Retention::AHEAD,
        };
        let read = |polled: Option<i64>, before: Option<i64>, now: i64, read: Option<i64>| {
            let (polled_to, horizon) = (polled.map(at), before.map(at));
            let ledger = EventLedger { horizon, polled_to, ..EventLedger::default() };
            super::horizon(&merchant, &ledger, (at(now), read.map(at)), &retention)
        };
        let horizon = |polled, before, now| read(polled, before, now, None);
        assert_eq!(horizon(None, None, 100), None, "its list was never read");
        assert_eq!(horizon(Some(99), None, 100), Some(at(90)));
        assert_eq!(horizon(Some(50), None, 100), Some(at(50) - LATE), "no webhook was read since");
        assert_eq!(horizon(Some(99), Some(90), 20), Some(at(90)), "the clock went back");
        assert_eq!(read(Some(50), None, 100, Some(100)), Some(at(90)), "no event since");
        assert_eq!(read(Some(50), None, 100, Some(60)), Some(at(59)), "our clock may be ahead");
        assert_eq!(read(None, None, 100, Some(100)), None, "never polled");
    }
}
