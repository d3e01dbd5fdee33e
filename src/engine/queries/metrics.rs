//! Metrics for a monitor: counts, and nothing that names a person or an amount.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::views::Overview;
use crate::engine::core::handles::EngineError;
use crate::engine::view::EngineView;
use crate::model::events::event::EventLedger;
use crate::model::events::scripts::ScriptValuesSize;
use crate::model::plans::plan::Reason;
use crate::store::writer::parts::CLASSES_US;

/// Counts for a monitor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metrics {
    pub overview: Overview,
    /// Intents that are not closed, by state, with the age of the oldest of each in seconds.
    pub intents: BTreeMap<String, (u64, i64)>,
    /// Resources that are not ready or differ from their file, by reason.
    pub reasons: BTreeMap<String, u64>,
    /// Resources by each condition and its status.
    #[serde(default)]
    pub conditions: BTreeMap<String, BTreeMap<String, u64>>,
    /// Resources that a limit blocks.
    pub over_limit: u64,
    /// Resources that wait for another try.
    pub backoff: u64,
    /// Objects that may exist twice.
    pub possible_orphans: u64,
    /// Syncs of the journal: for each upper bound in microseconds, the number that took no longer.
    pub sync_within_us: Vec<(u64, u64)>,
    /// Number of syncs, and their total duration in microseconds.
    pub syncs: (u64, u64),
    /// State of events and of their hooks.
    pub events: EventTotals,
    /// Posts answered since the process began, by answer; the HTTP server adds them.
    pub posts: BTreeMap<String, u64>,
}

/// Events and hooks of all merchants and applications together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventTotals {
    pub ledger: EventLedger,
    /// Seconds since the newest event, by the service's clock and ours; `None`: there is no event.
    pub age_seconds: Option<i64>,
    /// Seconds since the last read of a merchant's list: the greatest of all merchants.
    pub lag_seconds: Option<i64>,
    /// Actions that hooks requested and that are not settled.
    pub actions_waiting: u64,
    /// Hooks that failed and are run again.
    pub hooks_again: u64,
    /// Hooks that failed for good.
    pub hooks_dead: u64,
    /// Partner webhooks that were ignored.
    #[serde(default)]
    pub notices_ignored: u64,
    /// Scripts whose file is missing and whose place is kept.
    #[serde(default)]
    pub hooks_absent: u64,
    /// Scripts that receive no further events of a merchant, since too many of their runs failed:
    /// one for each merchant.
    #[serde(default)]
    pub hooks_stopped: u64,
    /// Values that scripts keep.
    #[serde(default)]
    pub kept: ScriptValuesSize,
    /// Seconds since the horizon up to which settled events are dropped, of the merchant that is
    /// furthest behind.
    #[serde(default)]
    pub horizon_age_seconds: Option<i64>,
}

impl EngineView<'_> {
    /// Returns the counts for a monitor.
    ///
    /// # Errors
    /// The state cannot be read.
    pub(crate) fn metrics(&self) -> Result<Metrics, EngineError> {
        let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
        let mut conditions: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
        for step in self.planner.steps() {
            for (kind, status) in self.statuses(step) {
                let of_kind = conditions.entry(kind.word().to_owned()).or_default();
                let count = of_kind.entry(status.word().to_owned()).or_default();
                *count = count.saturating_add(1);
            }
            if !step.is_ready() || step.action.is_change() {
                let count = reasons.entry(step.headline().0.to_owned()).or_default();
                *count = count.saturating_add(1);
            }
        }
        let over = self.planner.steps().filter(|step| matches!(step.reason, Reason::OverLimit(_)));
        let counts = self.shared.writer.syncs().counts();
        Ok(Metrics {
            overview: self.overview(),
            intents: self.intents_by_state(),
            reasons,
            conditions,
            over_limit: to_u64(over.count()),
            backoff: to_u64(self.scheduler.backoff.len()),
            possible_orphans: to_u64(self.shared.facts.possible_orphans()?.len()),
            sync_within_us: CLASSES_US.into_iter().zip(counts.within).collect(),
            syncs: (counts.count, counts.total_us),
            events: self.event_totals()?,
            posts: BTreeMap::new(),
        })
    }

    /// Sums events and hooks of all merchants.
    fn event_totals(&self) -> Result<EventTotals, EngineError> {
        let facts = &self.shared.facts;
        let now = self.shared.now();
        let since = |at: DateTime<Utc>| now.signed_duration_since(at).num_seconds().max(0);
        let mut totals = EventTotals::default();
        for (merchant, ledger) in facts.ledgers_by_merchant()? {
            totals.hooks_stopped = totals
                .hooks_stopped
                .saturating_add(to_u64(facts.stopped_scripts(&merchant)?.len()));
            totals.ledger.add(&ledger);
            totals.horizon_age_seconds = totals.horizon_age_seconds.max(ledger.horizon.map(since));
        }
        // A removed merchant's list is no longer read, so it has no lag.
        for merchant in self.snapshot().merchants() {
            let lag = self.event_schedule.list_read_at(&merchant, self.shared)?.map(since);
            totals.lag_seconds = totals.lag_seconds.max(lag);
        }
        totals.age_seconds = totals.ledger.newest.map(since);
        totals.actions_waiting = totals.ledger.pending;
        totals.hooks_again = totals.ledger.retried;
        totals.hooks_dead = totals.ledger.dead;
        totals.notices_ignored = facts.ignored_webhooks()?;
        totals.kept = facts.stored_total()?;
        let roster = facts.roster()?;
        totals.hooks_absent = to_u64(roster.values().filter(|one| one.absent.is_some()).count());
        Ok(totals)
    }

    fn intents_by_state(&self) -> BTreeMap<String, (u64, i64)> {
        let states = ["open", "in_doubt", "held"].map(|state| (state.to_owned(), (0, 0)));
        let mut intents: BTreeMap<String, (u64, i64)> = states.into();
        for open in self.known_state.open_intents() {
            let age = self.shared.now().signed_duration_since(open.intent.at).num_seconds();
            let (count, oldest) = intents.entry(open.state.word().to_owned()).or_default();
            *count = count.saturating_add(1);
            *oldest = age.max(*oldest);
        }
        intents
    }
}

fn to_u64(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
