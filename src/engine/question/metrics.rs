//! What a monitor asks for: counts, and nothing that names a person or an amount.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::views::Overview;
use crate::engine::Engine;
use crate::model::plan::Reason;
use crate::store::syncs::CLASSES_US;

/// Counts for a monitor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metrics {
    /// How things stand as a whole.
    pub overview: Overview,
    /// Intents that are not closed, by state; and the age of the oldest of each, in seconds.
    pub intents: BTreeMap<String, (u64, i64)>,
    /// Resources that are not ready or not as their file says, by reason.
    pub reasons: BTreeMap<String, u64>,
    /// Resources that a limit stands in the way of.
    pub over_limit: u64,
    /// Resources that wait for another try.
    pub backoff: u64,
    /// Objects that may exist twice.
    pub possible_orphans: u64,
    /// Syncs of the journal: for each upper end in microseconds, how many took no longer.
    pub sync_within_us: Vec<(u64, u64)>,
    /// How many syncs there were, and how long all of them took, in microseconds.
    pub syncs: (u64, u64),
}

impl Engine {
    /// What a monitor asks for. Errors: the state cannot be read.
    pub(super) fn metrics(&self) -> Result<Metrics, crate::engine::EngineError> {
        let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
        for step in self.planner.steps().filter(|step| !step.ready || step.verdict.changes()) {
            let count = reasons.entry(step.reason.word().to_owned()).or_default();
            *count = count.saturating_add(1);
        }
        let over = self.planner.steps().filter(|step| matches!(step.reason, Reason::OverLimit(_)));
        let counts = self.shared.writer.syncs().counts();
        Ok(Metrics {
            overview: self.overview(),
            intents: self.intents_by_state(),
            reasons,
            over_limit: u64::try_from(over.count()).unwrap_or(u64::MAX),
            backoff: u64::try_from(self.backoff.len()).unwrap_or(u64::MAX),
            possible_orphans: u64::try_from(self.shared.facts.possible_orphans()?.len())
                .unwrap_or(u64::MAX),
            sync_within_us: CLASSES_US.into_iter().zip(counts.within).collect(),
            syncs: (counts.count, counts.total_us),
        })
    }

    fn intents_by_state(&self) -> BTreeMap<String, (u64, i64)> {
        let states = ["open", "in_doubt", "held"].map(|state| (state.to_owned(), (0, 0)));
        let mut intents: BTreeMap<String, (u64, i64)> = states.into();
        for open in self.world.open_intents() {
            let age = self.shared.now().signed_duration_since(open.intent.at).num_seconds();
            let (count, oldest) = intents.entry(open.state.word().to_owned()).or_default();
            *count = count.saturating_add(1);
            *oldest = age.max(*oldest);
        }
        intents
    }
}
