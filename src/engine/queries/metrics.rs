//! Metrics for a monitor: counts, and nothing that names a person or an amount.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::engine::handles::shared::EngineError;
use crate::engine::protocol::queries::metrics::{EventTotals, Metrics};
use crate::engine::view::EngineView;
use crate::model::plans::plan::Reason;
use crate::store::writer::parts::CLASSES_US;

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
