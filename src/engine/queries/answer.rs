//! Answers a query from the present state; the counts of the overview and of the metrics are made here.
//! They name no person and no amount.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};

use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::client::gate::DownHost;
use crate::engine::handles::shared::EngineResult;
use crate::engine::protocol::diagnostics::{
    EventTotals, MERCHANTS_SHOWN_MAX, Metrics, StateReply, StatusView,
};
use crate::engine::protocol::events::EventsWanted;
use crate::engine::protocol::query::{EngineQuery, Reply};
use crate::engine::protocol::time_rules::TimeRuleView;
use crate::engine::protocol::views::{
    DownHostView, Overview, ResourceView, StandingCounts, TrafficView,
};
use crate::engine::queries::journal_refs::locate;
use crate::engine::view::EngineView;
use crate::model::change::PlannedAction;
use crate::model::holds::{Freeze, Hold};
use crate::model::issue::ProblemCounts;
use crate::model::plan::Standing;
use crate::model::state::health::{ConditionStatus, ConditionType};
use crate::plan::blocks;
use crate::plan::state_view::StateView;
use crate::policy::time_rules::{RuleState, TimeRule};

/// Resources that are not ready, and problems of documents, in a status, at most.
const NOT_READY_SHOWN: usize = 50;
/// Free bytes under which the state has too little space: a few segments of the journal, and the
/// index that a compaction writes.
const DISK_LOW: u64 = 256 << 20;
const PROBLEMS_SHOWN: usize = 20;

impl EngineView<'_> {
    pub fn answer(&self, question: EngineQuery) -> EngineResult<Reply> {
        Ok(match question {
            EngineQuery::Overview => Reply::Overview(Box::new(self.overview())),
            EngineQuery::Status => Reply::Status(Box::new(self.status()?)),
            EngineQuery::Resources(filter) => match self.resources(&filter) {
                Ok(list) => Reply::Resources(list),
                Err(unknown) => Reply::Unknown(unknown),
            },
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
            EngineQuery::Replay(selection) => {
                Reply::ReplayCandidates(Box::new(self.replay_candidates(&selection)?))
            }
            EngineQuery::TrialRun(asked) => Reply::ScriptData(self.trial_data(&asked)),
            EngineQuery::PlanPart(part) => Reply::PlanPart(Box::new(self.plan_part(part))),
            EngineQuery::Money => Reply::Money(Box::new(self.money.outlook(self.planner.count()))),
            EngineQuery::Graph(subject) => Reply::Graph(self.graph(&subject).map(Box::new)),
            EngineQuery::ResourceContext(key) => {
                Reply::ResourceContext(self.resource_context(&key).map(Box::new))
            }
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
            standings: self.standing_counts(failed),
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
            disk_low_bytes: self.shared.writer.free_bytes().filter(|free| *free < DISK_LOW),
            sync: self.known_state.holds.sync_view().map(Box::new),
            freeze: self.view_freeze(),
            rules: self.time_rules(),
            alerts: self.undelivered_alerts(),
        }
    }

    /// Returns the freeze in force, for a view.
    pub(crate) fn view_freeze(&self) -> Option<Box<Freeze>> {
        self.known_state.holds.freeze().cloned().map(Box::new)
    }

    /// Returns the hold that all changes of documents have, for a view.
    pub(crate) fn common_hold(&self) -> Option<Box<Hold>> {
        self.known_state.holds.common().map(|hold| Box::new((*hold).clone()))
    }

    /// Returns the windows and freezes of the configuration, without the freezes that are over.
    pub(crate) fn time_rules(&self) -> Vec<TimeRuleView> {
        let rules = self.known_state.holds.timed.rules();
        let view = |(rule, state): (&TimeRule, RuleState)| {
            let waiting = self.scheduler.held.count(&Some(rule.name.clone()));
            TimeRuleView::new(rule, state, waiting)
        };
        rules.filter(|(_, state)| state.until.is_some()).map(view).collect()
    }

    /// Returns those that hold changes back.
    pub(crate) fn holding_rules(&self) -> Vec<TimeRuleView> {
        self.time_rules().into_iter().filter(|rule| rule.holds).collect()
    }

    /// Counts the resources by class. `failed` of them need a person for their last attempt alone:
    /// by their steps they count as changing or waiting.
    fn standing_counts(&self, failed: usize) -> StandingCounts {
        let count = |standing| self.planner.standings.count(standing);
        let (changing, waiting) = (count(Standing::Changing), count(Standing::Waiting));
        let from_changing = failed.min(changing);
        let from_waiting = failed.saturating_sub(from_changing).min(waiting);
        let moved = from_changing.saturating_add(from_waiting);
        StandingCounts {
            needs_attention: count(Standing::NeedsAttention).saturating_add(moved),
            invalid: count(Standing::Invalid),
            unhealthy: count(Standing::Unhealthy),
            changing: changing.saturating_sub(from_changing),
            waiting: waiting.saturating_sub(from_waiting),
            suspended: count(Standing::Suspended),
            undocumented: count(Standing::Undocumented),
            ready: count(Standing::Ready),
        }
    }

    pub(crate) fn status(&self) -> EngineResult<StatusView> {
        let receivers = EventsWanted { most: 0, ..EventsWanted::default() };
        let problems = self.known_state.files.problems();
        let shown = problems.shown.len().min(PROBLEMS_SHOWN);
        let (first, rest) = problems.shown.split_at_checked(shown).unwrap_or_default();
        Ok(StatusView {
            at: timestamp(&self.shared.now()),
            overview: self.overview(),
            intents: self.intents_by_state(),
            not_ready: self.not_ready(),
            commit: self.known_state.files.commit(),
            problems: first.to_vec(),
            omitted: rest.iter().collect::<ProblemCounts>().plus(problems.omitted),
            hooks: self.hooks_view()?,
            events: self.events(&receivers)?,
        })
    }

    /// Returns the first resources that are not ready: those that failed for a person's reason, then
    /// the others by their class.
    fn not_ready(&self) -> Vec<ResourceView> {
        let failed: BTreeSet<&Key> =
            self.scheduler.failures.for_operator().take(NOT_READY_SHOWN).collect();
        let others = self.planner.standings.not_ready().filter(|key| !failed.contains(key));
        let keys = failed.iter().copied().chain(others);
        let steps = keys.filter_map(|key| self.planner.step(key));
        let mut items: Vec<ResourceView> =
            steps.take(NOT_READY_SHOWN).map(|step| self.resource_view(step)).collect();
        items.sort_by_key(|item| item.standing);
        items
    }

    /// Returns the counts for a monitor, without a look at each resource.
    pub(crate) fn metrics(&self) -> EngineResult<Metrics> {
        let totals = &self.planner.totals;
        Ok(Metrics {
            overview: self.overview(),
            intents: self.intents_by_state(),
            reasons: by_word(totals.reasons()),
            conditions: self.condition_counts(),
            over_limit: to_u64(totals.over_limit),
            backoff: to_u64(self.scheduler.backoff.len()),
            possible_orphans: to_u64(self.shared.facts.possible_orphans()?.len()),
            calls: self.shared.limiter.calls(),
            reconciled_at: self.scheduler.reconciled_at,
            syncs: self.shared.writer.syncs().counts(),
            disk_free_bytes: self.shared.writer.free_bytes(),
            events: self.event_totals()?,
            posts: BTreeMap::new(),
            alerts: self.alert_counts(),
            configuration_refused: false,
        })
    }

    /// Returns the number of resources by condition and status. Only the suspended ones, and those
    /// whose last attempt failed for a cause that a person has to change, are looked at one by one.
    fn condition_counts(&self) -> BTreeMap<String, BTreeMap<String, u64>> {
        let totals = &self.planner.totals;
        let suspended =
            self.planner.suspended.iter().filter(|key| blocks::is_suspended(self.known_state, key));
        let failed = self.scheduler.failures.for_operator();
        let failed = failed.filter(|key| self.known_state.open_intent(key).is_none());
        let attention = totals.needing_attention.saturating_add(failed.count());
        let all = self.planner.count();
        let split = |yes: usize| [(true, yes), (false, all.saturating_sub(yes))];
        let split = |yes| split(yes).map(|(is, count)| (ConditionStatus::from(is).word(), count));
        let counts = [
            (ConditionType::Synced, by_word(totals.sync_statuses())),
            (ConditionType::Healthy, by_word(totals.health_statuses())),
            (ConditionType::Suspended, by_word(split(suspended.count()))),
            (ConditionType::NeedsAttention, by_word(split(attention))),
        ];
        counts.map(|(kind, counts)| (kind.word().to_owned(), counts)).into()
    }

    fn event_totals(&self) -> EngineResult<EventTotals> {
        let facts = &self.shared.facts;
        let now = self.shared.now();
        let since = |at: DateTime<Utc>| now.signed_duration_since(at).num_seconds().max(0);
        let mut totals = EventTotals::default();
        let ledgers = facts.ledgers_by_merchant()?;
        if ledgers.len() <= MERCHANTS_SHOWN_MAX {
            let payments = ledgers.iter().map(|(key, ledger)| (key.short(), ledger.payments));
            totals.payments = payments.collect();
        }
        for (merchant, ledger) in ledgers {
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
            clock_ahead_seconds: traffic.clock_ahead_s,
        }
    }
}

/// Returns the counts that are not zero, by their word.
fn by_word(counts: impl IntoIterator<Item = (&'static str, usize)>) -> BTreeMap<String, u64> {
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    counts.map(|(word, count)| (word.to_owned(), to_u64(count))).collect()
}

fn to_u64(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
