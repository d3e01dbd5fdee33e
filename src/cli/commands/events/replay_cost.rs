//! The cost of `events replay --since`: the script runs for the selected events in this process, as
//! with `hooks try`, and nothing is done. The daemon selects the events and judges the names of the
//! requested actions, as it does for the runs themselves.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use crate::base::clock::timestamp;
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::cli::commands::events::trial_values::TrialValues;
use crate::cli::commands::hook_trials::{event, on_stage, past_events_since};
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::engine::hooks::event::PastEvent;
use crate::engine::protocol::hooks::TrialRunQuery;
use crate::engine::protocol::query::{HooksQuery, ReplayQuery, ScriptTrialQuery};
use crate::engine::protocol::replay::{
    ReplayCandidate, ReplayCandidates, ReplaySelection, RequestedName, TrialRequest,
};
use crate::model::events::hook::HookRun;
use crate::render::events::replay::{
    EarlierRuns, FailingTrial, LeftOutEvents, ReplayCost, ReplayedActions,
};
use crate::render::hooks::views::TrialOutcome;
use crate::scripting::hooks::{EventHandler, Hooks};
use crate::scripting::language::limits::TIME_MAX;

/// Failing trial runs that are shown, at most.
const FAILING_SHOWN: usize = 20;
/// Names that are judged at once.
const NAMES_AT_ONCE: usize = 256;
/// Span by which the service's clock may be ahead of ours.
const CLOCK_SKEW: TimeDelta = TimeDelta::hours(1);

/// Recorded events by their merchant and id.
type Recorded = BTreeMap<(Key, String), PastEvent>;

pub(crate) struct Estimate<'a> {
    pub(crate) setup: &'a Context,
    pub(crate) hooks: &'a Hooks,
    pub(crate) selection: ReplaySelection,
    /// SHA-256 over the files of this folder's scripts.
    pub(crate) files: Digest,
}

impl Estimate<'_> {
    /// Returns what the runs would do now. Nothing changes.
    pub(crate) async fn cost(self) -> CommandResult<ReplayCost> {
        let session = StateSession::open_view(self.setup).await?;
        let cost = self.within(&session).await;
        session.end(self.setup, cost).await
    }

    async fn within(&self, session: &StateSession) -> CommandResult<ReplayCost> {
        let found = session.ask(ReplayQuery(self.selection.clone())).await?;
        let since = self.selection.since;
        let since = since.checked_sub_signed(CLOCK_SKEW).unwrap_or(since);
        let past = past_events_since(self.setup, session, since).await?;
        let past: Recorded = past.into_iter().filter_map(by_id).collect();
        let loaded = session.ask(HooksQuery).await?.loaded;
        let mut cost = self.counts(&found, &past);
        cost.other_scripts = loaded.is_some_and(|loaded| loaded != self.files.to_string());
        let mut requests = Vec::new();
        let values = Arc::new(TrialValues::default());
        for candidate in &found.events {
            let event = event_of(session, &past, candidate).await?;
            match self.run(session, (candidate, event), &values).await? {
                Ok(run) => {
                    cost.keeps = cost.keeps.saturating_add(run.kept.len());
                    cost.adds = cost.adds.saturating_add(run.added.len());
                    requests.extend(trial_requests(candidate, run));
                }
                Err(failure) => note_failure(&mut cost, candidate, failure.to_string()),
            }
        }
        cost.actions = action_costs(session, requests).await?;
        cost.confirm = cost.confirmation();
        Ok(cost)
    }

    /// Runs the script once; the values that it keeps are seen by its next trial run.
    async fn run(
        &self,
        session: &StateSession,
        (candidate, event): (&ReplayCandidate, Value),
        values: &Arc<TrialValues>,
    ) -> CommandResult<TrialOutcome> {
        let (script, function) = (self.selection.script.clone(), candidate.function.clone());
        let handler = EventHandler { script, function };
        let (hooks, values) = (self.hooks.clone(), values.clone());
        let merchant = Some(candidate.merchant.clone());
        on_stage(session, merchant, move |present| {
            let reads = values.over(present);
            let ended = hooks.run(&handler, &event, &reads, Some(TIME_MAX));
            if let Ok(run) = &ended {
                values.keep(run, &reads);
            }
            ended
        })
        .await
    }

    fn counts(&self, found: &ReplayCandidates, past: &Recorded) -> ReplayCost {
        let selection = &self.selection;
        let events = found.events.len();
        let failed = found.events.iter().filter(|one| one.failed).count();
        let ran = |one: &&ReplayCandidate| {
            let known = past.get(&(one.merchant.clone(), one.event.clone()));
            let own =
                |past: &PastEvent| past.runs.iter().any(|past| past.run.script == selection.script);
            !one.failed && known.is_some_and(own)
        };
        let succeeded = found.events.iter().filter(ran).count();
        let not_run = events.saturating_sub(failed).saturating_sub(succeeded);
        let taken = events.saturating_add(found.erased);
        ReplayCost {
            version: 1,
            script: selection.script.clone(),
            since: timestamp(&selection.since),
            until: self.end(found).as_ref().map(timestamp),
            merchant: selection.merchant.as_ref().map(Key::short),
            limit: selection.limit,
            events,
            beyond_limit: found.found.saturating_sub(taken),
            next_since: found.next.as_ref().map(timestamp),
            search_cut: found.is_cut,
            earlier: EarlierRuns { failed, succeeded, not_run },
            left_out: LeftOutEvents {
                waiting: found.waiting,
                requested: found.requested,
                erased: found.erased,
                dropped: self.dropped(found, past),
            },
            ..ReplayCost::default()
        }
    }

    /// Returns the end of the period. Without one of its own the newest selected event ends it: the
    /// command to confirm then names the same events, whatever comes meanwhile.
    fn end(&self, found: &ReplayCandidates) -> Option<DateTime<Utc>> {
        let newest = || found.events.iter().map(|event| event.created).max();
        // The text of a time has whole milliseconds.
        let after = |time: DateTime<Utc>| time.checked_add_signed(TimeDelta::milliseconds(1));
        self.selection.until.or_else(|| newest().and_then(after))
    }

    /// Counts the events that only the journal still has: retention dropped them.
    fn dropped(&self, found: &ReplayCandidates, past: &Recorded) -> usize {
        let fits = |past: &&PastEvent| {
            let field = |name: &str| past.event.get(name).and_then(Value::as_str);
            let kind = field("type").is_some_and(|kind| self.selection.handlers.contains_key(kind));
            let created = field("created").and_then(|created| created.parse().ok());
            let merchant = self.selection.merchant.as_ref();
            kind && created.is_some_and(|created| self.selection.permits_time(created))
                && merchant.is_none_or(|merchant| *merchant == past.merchant)
        };
        let known = [found.found, found.waiting, found.requested].into_iter();
        let known = known.fold(0, usize::saturating_add);
        let recorded = past.values().filter(fits).count();
        if found.is_cut { 0 } else { recorded.saturating_sub(known) }
    }
}

fn by_id(past: PastEvent) -> Option<((Key, String), PastEvent)> {
    let id = past.event.get("id").and_then(Value::as_str)?.to_owned();
    Some(((past.merchant.clone(), id), past))
}

/// Returns the event as scripts see it; the state has it where the journal was compacted.
async fn event_of(
    session: &StateSession,
    past: &Recorded,
    candidate: &ReplayCandidate,
) -> CommandResult<Value> {
    match past.get(&(candidate.merchant.clone(), candidate.event.clone())) {
        Some(past) => Ok(past.event.clone()),
        None => event(session, &candidate.event).await,
    }
}

fn note_failure(cost: &mut ReplayCost, candidate: &ReplayCandidate, message: String) {
    cost.failures = cost.failures.saturating_add(1);
    if cost.failing.len() < FAILING_SHOWN {
        cost.failing.push(FailingTrial { event: candidate.event.clone(), message });
    }
}

fn trial_requests(candidate: &ReplayCandidate, run: HookRun) -> Vec<TrialRequest> {
    let request = |request| TrialRequest {
        merchant: candidate.merchant.clone(),
        event: candidate.event.clone(),
        request,
    };
    run.requests.into_iter().map(request).collect()
}

/// Returns the counts of the requested actions, by their verbs.
async fn action_costs(
    session: &StateSession,
    requests: Vec<TrialRequest>,
) -> CommandResult<Vec<ReplayedActions>> {
    let mut actions: BTreeMap<String, ReplayedActions> = BTreeMap::new();
    for part in requests.chunks(NAMES_AT_ONCE) {
        let names = TrialRunQuery::Names(part.to_vec());
        let names = session.ask(ScriptTrialQuery(names)).await?.map_err(CommandFailure::bug)?;
        let names: Vec<RequestedName> =
            serde_json::from_value(names).map_err(CommandFailure::bug)?;
        for (trial, name) in part.iter().zip(names) {
            let verb = trial.request.verb.clone();
            let one = actions.entry(verb.clone()).or_insert_with(|| ReplayedActions::of(verb));
            one.count(&trial.request, name);
        }
    }
    Ok(actions.into_values().collect())
}
