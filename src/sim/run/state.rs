//! State of one run: a world, its people, its faults, and a machine that dies; the checks once it has
//! ended, and its report.
//!
//! The checkers compare the service, the journal and the manifests. They know nothing of the faults
//! that struck, except that an answer named another amount, and nothing of the engine's internals.
//! They read the sandbox's own objects, ledger and mail, its arrivals with their times, the
//! journal's durable records, and the documents.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::json;
use tokio::time::Instant;

use crate::base::clock::SharedClock;
use crate::engine::protocol::views::ResourceView;
use crate::sim::check::attention::Shares;
use crate::sim::check::events::{EventEvidence, EventOutcomes};
use crate::sim::check::evidence::{LostState, RunEvidence, Violations};
use crate::sim::check::{
    attention, commands, events, hooks, laws, limits, money, settlement, state, uniqueness,
};
use crate::sim::machine::backup::Backup;
use crate::sim::machine::journal::{self, ClockJumps, WallClock};
use crate::sim::machine::process::{ClientContext, Machine};
use crate::sim::machine::specs::SharedTree;
use crate::sim::plan::chance::{CallFault, Crash, CrashPoint};
use crate::sim::plan::documents::DocTree;
use crate::sim::plan::script::SimScript;
use crate::sim::run::memory::{HookState, Memory};
use crate::sim::service::control::text;
use crate::sim::service::frontend::Frontend;
use crate::sim::service::post_office::PostOffice;
use crate::sim::service::sandbox::SandboxControl;
use crate::store::journal::chain::Head;

/// Time within which everything settles after the last fault.
pub(crate) const SETTLES_WITHIN: Duration = Duration::from_hours(6);
/// Time within which an undelivered webhook is sent again.
pub(crate) const REDELIVERED_WITHIN: Duration = Duration::from_mins(11);

#[derive(Debug, Clone, Default)]
pub struct RunReport {
    pub seed: u64,
    /// Broken laws; empty for a clean run.
    pub violations: Violations,
    /// Hash of the journal's last record.
    pub head: [u8; 32],
    pub records: u64,
    pub struck: BTreeMap<(&'static str, CallFault), u32>,
    pub died: BTreeMap<CrashPoint, u32>,
    /// Intents, and intents that needed a person, by effect.
    pub shares: Shares,
    pub recreated: u32,
    /// Live merchants that a person approved.
    pub approved: usize,
    /// Plans over a limit that a person approved.
    pub plans_approved: usize,
    /// Payments that the service collected in the two months after the run.
    pub collected: usize,
    pub event_outcomes: EventOutcomes,
    /// Actions of hooks, by verb.
    pub hooks: BTreeMap<String, u32>,
}

pub(crate) struct SimRun<'a> {
    pub(crate) script: &'a SimScript,
    pub(crate) clock: SharedClock,
    pub(crate) desk: SandboxControl,
    pub(crate) front: Arc<Frontend>,
    pub(crate) machine: Machine,
    pub(crate) outside: ClientContext,
    pub(crate) tree: SharedTree,
    pub(crate) history: Vec<(DateTime<Utc>, DocTree)>,
    /// Steps already taken; `stepped` is the time of the last one.
    pub(crate) steps: usize,
    pub(crate) stepped: Instant,
    pub(crate) memory: Memory,
    pub(crate) post: PostOffice,
    pub(crate) troubles: TroubleLog,
    pub(crate) crashes: Vec<Crash>,
    pub(crate) deaths: Vec<DateTime<Utc>>,
    pub(crate) died: BTreeMap<CrashPoint, u32>,
    pub(crate) rig: HookState,
    pub(crate) acknowledged: Head,
    pub(crate) violations: Violations,
    pub(crate) views: Vec<ResourceView>,
}

pub(crate) enum LifeEnd {
    Died,
    /// The process was stopped for a restart.
    Stopped,
    /// Every step is done.
    Over,
}

#[derive(Debug)]
pub(crate) struct TroubleLog {
    pub(crate) wall: Arc<WallClock>,
    pub(crate) lost: Vec<LostState>,
    pub(crate) jumps: ClockJumps,
    pub(crate) backups: BTreeMap<usize, Backup>,
    pub(crate) done: BTreeSet<usize>,
}

impl TroubleLog {
    pub(crate) fn new(clock: SharedClock) -> Self {
        Self {
            wall: Arc::new(WallClock::new(clock)),
            lost: Vec::new(),
            jumps: ClockJumps::default(),
            backups: BTreeMap::new(),
            done: BTreeSet::new(),
        }
    }
}

impl SimRun<'_> {
    pub(crate) async fn check_result(mut self) -> RunReport {
        let entries = journal::allowed_counts(&self.machine.journal);
        let entries = self.troubles.jumps.correct_times(entries);
        let known = self.machine.rebuilt_read_model().ok();
        state::check_compaction(&self.machine, &mut self.violations).await;
        state::check_damage(&mut self.machine, &entries, &mut self.violations);
        let approved = laws::check_approvals(&entries, &mut self.violations);
        let before = self.desk.objects().await;
        let events = self.desk.control.all("events").await;
        let now = self.clock.now();
        self.desk.control.post_control("clock", &json!({"advance": "P60D"})).await;
        let after = self.desk.objects().await;
        let (log, post, notes) = (self.front.log(), self.post.state(), self.memory.notes());
        let evidence = RunEvidence {
            script: self.script,
            history: &self.history,
            arrivals: &log.arrivals,
            unauthorised_calls: &log.unauthorised_calls,
            histories: &journal::intent_histories(&entries),
            numbers: &journal::intent_numbers(&entries),
            deaths: &self.deaths,
            lost: &self.troubles.lost,
            objects: &before,
            later: &after,
            views: &self.views,
            answers: &notes.answers,
            lost_webhooks: &post.lost,
            storms: &self.front.weather.stretches(),
            settling_time: self.front.weather.settling_time(),
        };
        let complete = self.violations.is_empty();
        self.violations.extend(check_run(&evidence, complete));
        self.violations.extend(limits::check_limits(&evidence, &entries, &notes.seen_plans));
        let told = EventEvidence {
            events: &events,
            entries: &entries,
            answered: &post.acknowledged,
            merchants: &self.desk.merchants,
            known: known.as_ref(),
            now,
        };
        self.violations.extend(events::check_events(&evidence, &told, complete));
        let tries = self.rig.courier.attempts();
        self.violations.extend(hooks::check_hooks(&evidence, &told, &tries, complete));
        let shares = attention::count_intents(&evidence);
        attention::check_provable(self.script.surface, &shares, &mut self.violations);
        let last = entries.last();
        RunReport {
            seed: self.script.seed,
            head: last.map_or([0; 32], |entry| entry.hash),
            records: last.map_or(0, |entry| entry.sequence),
            struck: log.fault_counts.clone(),
            died: self.died,
            shares,
            recreated: state::recreated(&evidence),
            approved,
            plans_approved: limits::plans_approved(&entries),
            collected: after.ledger.iter().filter(|one| text(one, "type") == "CHARGE").count(),
            event_outcomes: told.count_outcomes(),
            hooks: hooks::count_actions(&told),
            violations: self.violations,
        }
    }
}

/// Returns every violation. Settlement is not checked in a run that was cut short.
pub fn check_run(evidence: &RunEvidence<'_>, complete: bool) -> Violations {
    let mut found = Vec::new();
    laws::check_call_intents(evidence, &mut found);
    laws::check_deletions(evidence, &mut found);
    laws::check_differing_answers(evidence, &mut found);
    uniqueness::check_intent_numbers(evidence, &mut found);
    uniqueness::check_invoices(evidence, &mut found);
    uniqueness::check_methods(evidence, &mut found);
    uniqueness::check_tokens(evidence, &mut found);
    uniqueness::check_recurring_charges(evidence, &mut found);
    uniqueness::check_counts(evidence, &mut found);
    uniqueness::check_applications(evidence, &mut found);
    uniqueness::check_contacts(evidence, &mut found);
    uniqueness::check_mails(evidence, &mut found);
    money::check_collected(evidence, &mut found);
    commands::check_single_effect(evidence, &mut found);
    commands::check_merchant_answers(evidence, &mut found);
    laws::check_codes(evidence, &mut found);
    laws::check_storms(evidence, &mut found);
    if complete {
        limits::check_blocked_steps(evidence, &mut found);
        settlement::check_holds(evidence, &mut found);
        state::check_waiting(evidence, &mut found);
        settlement::check_ready(evidence, &mut found);
        settlement::check_removed_methods(evidence, &mut found);
        commands::check_answers(evidence, &mut found);
        laws::check_decisions(evidence, &mut found);
        money::check_no_collection(evidence, &mut found);
        money::check_returned(evidence, &mut found);
        money::check_deauthorised(evidence, &mut found);
        money::check_invoiced(evidence, &mut found);
    }
    found
}
