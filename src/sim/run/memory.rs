//! Memory of the people across the lives of the machine, the current scripts of hooks with the courier of
//! their notifications, and queries to the engine.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use crate::engine::protocol::actions::ActionReport;
use crate::engine::protocol::hooks::{ActionView, HooksView};
use crate::engine::protocol::input::{EngineCommand, EngineInput};
use crate::engine::protocol::query::{HooksQuery, Query, Reply};
use crate::model::state::lifecycle::ReleaseRequest;
use crate::sim::machine::disk::MachinePower;
use crate::sim::plan::hook_scripts::{EditTime, FAILURE_MESSAGE, HookPlan, SimScriptSet};
use crate::sim::plan::people::{People, SeenPlan};
use crate::sim::service::notifier::SimNotifier;
use crate::sim::service::post_office::EngineSender;

/// Consecutive looks without a request that end a person's work, once all faults are over.
const QUIET_LOOKS: u32 = 2;
/// Actor of the requests that no named person makes.
pub(crate) const ACTOR: &str = "the simulator";

/// Memory of the people across lives of the machine; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory(Arc<Mutex<MemoryNotes>>);

#[derive(Debug, Default)]
pub(crate) struct MemoryNotes {
    pub(crate) faults_over: bool,
    pub(crate) on_hold_since: BTreeMap<String, Instant>,
    /// Intents with a requested retry.
    pub(crate) retried: BTreeSet<String>,
    /// Consecutive looks of each person without a request, after the faults.
    pub(crate) quiet_looks: BTreeMap<&'static str, u32>,
    /// Set if any person made a request since the last reset.
    pub(crate) acted: bool,
    /// Successful and attempted approvals of each approver.
    pub(crate) approvals: BTreeMap<&'static str, (u32, u32)>,
    pub(crate) seen_plans: Vec<SeenPlan>,
    /// Answered requests, by step and index in the step.
    pub(crate) answered: BTreeSet<(usize, usize)>,
    /// Last answer to each command.
    pub(crate) answers: BTreeMap<String, ActionReport>,
    /// Fields of the first request under the name of each command.
    pub(crate) fields: BTreeMap<String, Value>,
}

impl Memory {
    pub(crate) fn notes(&self) -> MutexGuard<'_, MemoryNotes> {
        self.0.lock()
    }

    /// Waits until no person has anything left to do. Returns true if no person made a request
    /// meanwhile.
    pub(crate) async fn wait_until_idle(&self, people: &People) -> bool {
        self.notes().quiet_looks.clear();
        self.notes().acted = false;
        while self.notes().quiet_looks.values().filter(|looks| **looks >= QUIET_LOOKS).count()
            < people.count()
        {
            sleep(Duration::from_secs(1)).await;
        }
        !self.notes().acted
    }

    pub(crate) fn note_approval(&self, who: &'static str, given: bool) {
        let mut notes = self.notes();
        let (approved, tried) = notes.approvals.entry(who).or_default();
        *approved = approved.saturating_add(u32::from(given));
        *tried = tried.saturating_add(1);
    }

    /// Lets a person look at intervals, for ever. A look returns `None` if the engine did not answer,
    /// else whether the person made a request.
    pub(crate) async fn look_at_intervals(
        &self,
        who: &'static str,
        every_s: u64,
        look: impl AsyncFn() -> Option<bool>,
    ) {
        loop {
            sleep(Duration::from_secs(every_s)).await;
            let Some(spoke) = look().await else { continue };
            let mut notes = self.notes();
            notes.acted |= spoke;
            let calm = notes.faults_over;
            let quiet = notes.quiet_looks.entry(who).or_default();
            *quiet = if spoke || !calm { 0 } else { quiet.saturating_add(1) };
        }
    }
}

/// Sends an input to the engine, and waits for its answer. Returns `None` if the engine did not
/// answer: a person then asks again in its next life.
pub(crate) async fn ask<T>(
    engine: &EngineSender,
    input: impl FnOnce(oneshot::Sender<T>) -> EngineInput,
) -> Option<T> {
    let (reply, answer) = oneshot::channel();
    engine.send(input(reply)).await.ok()?;
    answer.await.ok()
}

/// Resolves, in the name of a person, what a restore left in doubt.
pub(crate) async fn release(engine: &EngineSender, request: ReleaseRequest) -> Option<()> {
    command(engine, EngineCommand::Release(request, ACTOR.to_owned())).await.map(drop)
}

pub(crate) async fn command(engine: &EngineSender, command: EngineCommand) -> Option<Reply> {
    ask(engine, |reply| EngineInput::Command(command, reply)).await
}

pub(crate) async fn query<Q: Query>(engine: &EngineSender, query: Q) -> Option<Q::Answer> {
    Q::answer(ask(engine, |reply| EngineInput::Ask(query.into_query(), reply)).await?)
}

/// Interval at which a person looks at failed hook runs and waiting actions.
const HOOK_LOOKS_EVERY: Duration = Duration::from_secs(61);
/// Consecutive looks without any activity that end the work.
const HOOK_QUIET_LOOKS: u32 = 3;
const HOOK_LOOKS_MAX: u32 = 240;

/// State of the hooks in one run; empty without a plan.
#[derive(Debug)]
pub(crate) struct HookState {
    plan: Option<HookPlan>,
    set: SimScriptSet,
    done: BTreeSet<usize>,
    lives: u32,
    pub(crate) courier: SimNotifier,
}

impl HookState {
    pub(crate) fn new(plan: Option<&HookPlan>, power: &MachinePower) -> Self {
        let fates = plan.map_or(&[][..], |plan| &plan.fates);
        let courier = SimNotifier::new(power.clone(), fates);
        let (set, done) = (SimScriptSet::default(), BTreeSet::new());
        Self { plan: plan.cloned(), set, done, lives: 0, courier }
    }

    pub(crate) async fn begin_life(&mut self, engine: &EngineSender) {
        self.lives = self.lives.saturating_add(1);
        let life = self.lives;
        self.apply_edits(|at| matches!(at, EditTime::Life(due) if due <= life));
        self.send_scripts(engine).await;
    }

    pub(crate) async fn step(&mut self, step: usize, engine: &EngineSender) {
        if self.apply_edits(|at| at == EditTime::Step(step)) {
            self.send_scripts(engine).await;
        }
    }

    pub(crate) async fn stop_faults(&mut self, engine: &EngineSender) {
        self.set.remove_faults();
        self.courier.stop_losses();
        self.send_scripts(engine).await;
    }

    /// Makes every due change that was not made yet. Returns true if there was one.
    fn apply_edits(&mut self, due: impl Fn(EditTime) -> bool) -> bool {
        let edits = self.plan.iter().flat_map(|plan| &plan.edits).enumerate();
        let mut any = false;
        for (nth, (at, edit)) in edits {
            if due(*at) && self.done.insert(nth) {
                self.set.edit(*edit);
                any = true;
            }
        }
        any
    }

    async fn send_scripts(&self, engine: &EngineSender) {
        if self.plan.is_some() {
            drop(engine.send(EngineInput::Scripts(Box::new(self.set.to_found()))).await);
        }
    }

    /// Looks after the hooks until all activity ends. The person replays runs that failed before
    /// their script was fixed. With `looks`, the person also resolves actions that a restore left
    /// in doubt.
    pub(crate) async fn run_until_idle(&self, looks: bool, engine: &EngineSender) {
        let mut quiet = 0;
        for _ in 0..HOOK_LOOKS_MAX {
            if self.plan.is_none() || quiet >= HOOK_QUIET_LOOKS {
                return;
            }
            sleep(HOOK_LOOKS_EVERY).await;
            let Some(view) = query(engine, HooksQuery).await else { return };
            let spoke = self.handle_failures(&view, looks, engine).await;
            let waits = view.waiting.iter().any(|wish| wish.on_hold.is_none());
            let goes_on = spoke || waits || !view.failed.is_empty();
            quiet = if goes_on { 0 } else { quiet.saturating_add(1) };
        }
    }

    async fn handle_failures(&self, view: &HooksView, looks: bool, engine: &EngineSender) -> bool {
        let mut spoke = false;
        for dead in view.dead.iter().filter(|dead| dead.message.contains(FAILURE_MESSAGE)) {
            let replay = EngineCommand::Replay(dead.event.clone(), ACTOR.to_owned());
            spoke |= command(engine, replay).await.is_some();
        }
        for wish in view.waiting.iter().filter(|_| looks) {
            spoke |= self.resolve_action(wish, engine).await.is_some();
        }
        spoke
    }

    async fn resolve_action(&self, wish: &ActionView, engine: &EngineSender) -> Option<()> {
        let (_, named) = wish.on_hold.as_ref()?.split_once("reckon store release ")?;
        let name = named.split('`').next()?;
        let key = name.strip_prefix("Action/")?;
        let done = self.courier.attempts().iter().any(|one| one.arrived && one.key == key);
        let said = ReleaseRequest { keys: vec![name.parse().ok()?], done };
        release(engine, said).await
    }
}
