//! Selects the events for which a script can be run again. A request of runs and the estimate of its
//! cost use the same selection.
//!
//! Events that the script has yet to handle are left out: it handles them in their order.

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::base::id::Key;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::hooks::event::has_data;
use crate::engine::hooks::sealed_words;
use crate::engine::protocol::replay::{
    REPLAYS_MAX, ReplayCandidate, ReplayCandidates, ReplaySelection, RequestedName, TrialRequest,
};
use crate::engine::view::EngineView;
use crate::model::events::event::{EventStatus, VerifiedEvent};
use crate::model::events::hook_run::FailedHook;

/// Events that one selection searches, at most, over all merchants.
const SEARCHED_MAX: usize = 100_000;
/// Span by which the service's clock may be ahead of ours.
const CLOCK_SKEW: TimeDelta = TimeDelta::hours(1);

impl EngineView<'_> {
    pub(crate) fn replay_candidates(
        &self,
        selection: &ReplaySelection,
    ) -> EngineResult<ReplayCandidates> {
        let shared = self.shared;
        let budget = SEARCHED_MAX;
        let mut search = CandidateSearch { shared, selection, budget, found: <_>::default() };
        for merchant in shared.facts.event_merchants()? {
            if selection.merchant.as_ref().is_none_or(|one| *one == merchant) {
                search.merchant(&merchant)?;
            }
        }
        search.take_oldest();
        search.drop_erased()
    }

    /// Returns what each request leads to, as an array of [`RequestedName`].
    pub(crate) fn requested_names(&self, requests: &[TrialRequest]) -> Result<Value, String> {
        let names = requests.iter().map(|request| self.requested_name(request));
        let names = names.collect::<EngineResult<Vec<_>>>();
        names.map(|names| json!(names)).map_err(|error| error.to_string())
    }

    fn requested_name(&self, trial: &TrialRequest) -> EngineResult<RequestedName> {
        let TrialRequest { merchant, event, request } = trial;
        let facts = &self.shared.facts;
        let Some(known) = facts.used_name(merchant, event, &request.name)? else {
            return Ok(RequestedName::New);
        };
        let digest =
            sealed_words::journal_digest(&self.shared.vault, &merchant.to_string(), request);
        let same = known.is_none() || digest.is_none() || known == digest;
        Ok(if same { RequestedName::Repeated } else { RequestedName::Taken })
    }
}

struct CandidateSearch<'a> {
    shared: &'a EngineShared,
    selection: &'a ReplaySelection,
    /// Events that may still be searched.
    budget: usize,
    found: ReplayCandidates,
}

impl CandidateSearch<'_> {
    /// Searches the events of a merchant, newest first.
    fn merchant(&mut self, merchant: &Key) -> EngineResult<()> {
        let facts = &self.shared.facts;
        let ledger = facts.event_ledger(merchant)?;
        let cursor = facts.hook_cursor(merchant, &self.selection.script)?;
        let ran_to = cursor.map_or(ledger.ran_to, |cursor| cursor.to);
        let first = self.selection.since.checked_sub_signed(CLOCK_SKEW);
        for number in (1..=ledger.verified).rev() {
            if self.budget == 0 {
                self.found.is_cut = true;
                return Ok(());
            }
            self.budget = self.budget.saturating_sub(1);
            let Some(told) = self.verified(merchant, number)? else { continue };
            // An event becomes known after it was created: all further ones are older still.
            if first.is_some_and(|first| told.at < first) {
                return Ok(());
            }
            self.event((number, ran_to), &told)?;
        }
        Ok(())
    }

    fn verified(&self, merchant: &Key, number: u64) -> EngineResult<Option<Box<VerifiedEvent>>> {
        let facts = &self.shared.facts;
        let Some(id) = facts.event_numbered(merchant, number)? else { return Ok(None) };
        let entry = facts.event(merchant, &id)?;
        Ok(entry.and_then(|entry| match entry.status {
            EventStatus::Verified(told) => Some(told),
            EventStatus::Waiting | EventStatus::OtherMode | EventStatus::Forged => None,
        }))
    }

    /// Counts an event, if the selection contains it.
    fn event(&mut self, (number, ran_to): (u64, u64), told: &VerifiedEvent) -> EngineResult<()> {
        let Some(function) = self.selection.handlers.get(&told.kind) else { return Ok(()) };
        if !self.selection.permits_time(told.created) {
            return Ok(());
        }
        let failed = self.shared.facts.failed_runs_of(&told.merchant, &told.event)?;
        let failed = failed.iter().find(|one| one.failed.script == self.selection.script);
        let found = &mut self.found;
        let left_out = if number > ran_to && !told.quiet {
            Some(&mut found.waiting)
        } else if failed.is_some_and(FailedHook::is_requested) {
            Some(&mut found.requested)
        } else {
            None
        };
        match left_out {
            Some(count) => *count = count.saturating_add(1),
            None => found.events.push(ReplayCandidate {
                merchant: told.merchant.clone(),
                event: told.event.clone(),
                number,
                created: told.created,
                function: function.clone(),
                failed: failed.is_some(),
            }),
        }
        Ok(())
    }

    /// Keeps the oldest candidates, as many as the selection permits. Those of one merchant have the
    /// order of their numbers.
    fn take_oldest(&mut self) {
        let events = &mut self.found.events;
        events.sort_by_key(|event| (event.created, event.number));
        self.found.found = events.len();
        let rest = events.split_off(events.len().min(self.selection.limit.min(REPLAYS_MAX)));
        self.found.next = rest.first().map(|event| event.created);
        events.sort_by(|one, other| {
            (&one.merchant, one.number).cmp(&(&other.merchant, other.number))
        });
    }

    /// Counts the candidates whose data was erased, and leaves them out.
    fn drop_erased(mut self) -> EngineResult<ReplayCandidates> {
        for candidate in std::mem::take(&mut self.found.events) {
            let told = self.verified(&candidate.merchant, candidate.number)?;
            if let Some(told) = told
                && has_data(self.shared, &told)?
            {
                self.found.events.push(candidate);
            } else {
                self.found.erased = self.found.erased.saturating_add(1);
            }
        }
        Ok(self.found)
    }
}
