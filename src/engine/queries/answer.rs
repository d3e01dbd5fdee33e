//! Answers a query from the present state; the counts of the overview and of the metrics are made here.
//! They name no person and no amount.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

use crate::base::clock::timestamp;
use crate::client::gate::DownHost;
use crate::engine::handles::shared::EngineResult;
use crate::engine::protocol::diagnostics::{EventTotals, Metrics, StateReply};
use crate::engine::protocol::query::{EngineQuery, Reply};
use crate::engine::protocol::views::{DownHostView, Overview, TrafficView};
use crate::engine::queries::journal_refs::locate;
use crate::engine::view::EngineView;
use crate::model::change::PlannedAction;
use crate::model::plan::Reason;
use crate::plan::state_view::StateView;
use crate::store::writer::core::CLASSES_US;

impl EngineView<'_> {
    pub fn answer(&self, question: EngineQuery) -> EngineResult<Reply> {
        Ok(match question {
            EngineQuery::Overview => Reply::Overview(self.overview()),
            EngineQuery::Resources => Reply::Resources(
                self.planner.steps().map(|step| self.resource_view(step)).collect(),
            ),
            EngineQuery::Resource(key) => Reply::Resource(self.resource(&key).map(Box::new)),
            EngineQuery::Metrics => Reply::Metrics(Box::new(self.metrics()?)),
            EngineQuery::Intents => Reply::Intents(self.intents()?),
            EngineQuery::Events(wanted) => Reply::Events(Box::new(self.events(&wanted)?)),
            EngineQuery::Event(id) => Reply::Event(self.event(&id)?.map(Box::new)),
            EngineQuery::Hooks => Reply::Hooks(Box::new(self.hooks_view()?)),
            EngineQuery::ScriptResource(key) => Reply::ScriptData(self.script_resource(&key)),
            EngineQuery::ScriptFind(kind, filter) => {
                Reply::ScriptData(Ok(self.script_find(&kind, &filter)))
            }
            EngineQuery::TrialRun(asked) => Reply::ScriptData(self.trial_data(&asked)),
            EngineQuery::Plan => Reply::Plan(Box::new(self.plan_view())),
            EngineQuery::Scoped(scope) => match self.plan_within(&scope) {
                Ok(plan) => Reply::Plan(Box::new(plan)),
                Err(unknown) => Reply::Unknown(unknown),
            },
            EngineQuery::Save(saving) => self.save_plan(*saving)?,
            EngineQuery::Approvals => Reply::Approvals(self.approvals()),
            EngineQuery::IntakeLink(key) => Reply::IntakeLink(self.intake_link(&key)),
            EngineQuery::JournalRefs(wanted) => {
                let head = self.shared.writer.head();
                Reply::State(StateReply::Trail(locate(&self.shared.facts, &wanted, head)?))
            }
            EngineQuery::Addresses => Reply::Addresses(self.shared.facts.rotations()?),
            EngineQuery::Effects(since) => Reply::Effects(self.shared.effect_log.since(since)),
            EngineQuery::Settle => Reply::Settled,
        })
    }

    pub fn overview(&self) -> Overview {
        let totals = &self.planner.totals;
        let resources = self.planner.count();
        let head = self.shared.writer.head();
        let failed = self.scheduler.failures.attention_count();
        Overview {
            resources,
            ready: resources.saturating_sub(totals.unready),
            changes: totals.changes(),
            stuck: totals.needing_attention.saturating_add(failed),
            orphaned: totals.count_of(PlannedAction::Orphan),
            suspended: self.known_state.suspension_count(self.shared.now()),
            under_way: self.scheduler.busy.len().saturating_add(self.scheduler.queue.len()),
            open_intents: self.known_state.open_intents().len(),
            broken: self.known_state.desired().broken.len(),
            coverage: self.known_state.desired().tree_state,
            position: head.sequence,
            head: data_encoding::HEXLOWER.encode(&head.hash),
            traffic: self.traffic(),
        }
    }

    pub(crate) fn metrics(&self) -> EngineResult<Metrics> {
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

    fn event_totals(&self) -> EngineResult<EventTotals> {
        let facts = &self.shared.facts;
        let now = self.shared.now();
        let since = |at: DateTime<Utc>| now.signed_duration_since(at).num_seconds().max(0);
        let mut totals = EventTotals::default();
        for (merchant, ledger) in facts.ledgers_by_merchant()? {
            let stopped = to_u64(facts.stopped_scripts(&merchant)?.len());
            totals.hooks_stopped = totals.hooks_stopped.saturating_add(stopped);
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

    pub(crate) fn traffic(&self) -> TrafficView {
        let traffic = self.shared.limiter.traffic();
        let span = |duration| TimeDelta::from_std(duration).unwrap_or(TimeDelta::MAX);
        let view = |DownHost { host, since, next }: DownHost| {
            let now = self.shared.now();
            let since = now.checked_sub_signed(span(since)).unwrap_or(now);
            let next = now.checked_add_signed(span(next)).unwrap_or(now);
            DownHostView { host, since: timestamp(&since), next: timestamp(&next) }
        };
        TrafficView {
            slowed: traffic.slowed,
            throttled: traffic.throttled,
            silent: traffic.down_hosts.into_iter().map(view).collect(),
        }
    }
}

fn to_u64(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
