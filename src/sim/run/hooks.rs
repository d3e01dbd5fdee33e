//! Current scripts of a run, the courier of their notifications, and the person who looks after
//! both.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::sleep;

use super::memory::{ACTOR, ask, query, release};
use crate::engine::protocol::commands::command::EngineCommand;
use crate::engine::protocol::input::EngineInput;
use crate::engine::protocol::queries::hooks::{ActionView, HooksView};
use crate::engine::protocol::query::{EngineQuery, Reply};
use crate::model::state::lifecycle::ReleaseRequest;
use crate::sim::machine::power::MachinePower;
use crate::sim::plan::hook_scripts::{EditTime, FAILURE_MESSAGE, HookPlan, SimScriptSet};
use crate::sim::service::notifier::{SimDelivery, SimNotifier};

/// Interval at which a person looks at failed hook runs and waiting actions.
const LOOKS_EVERY: Duration = Duration::from_secs(61);

/// Consecutive looks without any activity that end the work.
const QUIET_LOOKS: u32 = 3;

/// Most looks in all.
const LOOKS_MAX: u32 = 240;

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
    /// Returns the state at the beginning.
    pub(crate) fn new(plan: Option<&HookPlan>, power: &MachinePower) -> Self {
        let ways = plan.map_or(&[][..], |plan| &plan.fates);
        let courier = SimNotifier::new(power.clone(), ways);
        Self {
            plan: plan.cloned(),
            set: SimScriptSet::default(),
            done: BTreeSet::new(),
            lives: 0,
            courier,
        }
    }

    /// Returns every attempt to deliver a notification.
    pub(crate) fn attempts(&self) -> Vec<SimDelivery> {
        self.courier.attempts()
    }

    /// Begins a life of the machine.
    pub(crate) async fn begin_life(&mut self, engine: &mpsc::Sender<EngineInput>) {
        self.lives = self.lives.saturating_add(1);
        let life = self.lives;
        self.apply_edits(|at| matches!(at, EditTime::Life(due) if due <= life));
        self.send_scripts(engine).await;
    }

    /// Makes the changes of a step.
    pub(crate) async fn step(&mut self, step: usize, engine: &mpsc::Sender<EngineInput>) {
        if self.apply_edits(|at| at == EditTime::Step(step)) {
            self.send_scripts(engine).await;
        }
    }

    /// Stops all faults.
    pub(crate) async fn stop_faults(&mut self, engine: &mpsc::Sender<EngineInput>) {
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

    /// Sends the scripts of the folder to the engine.
    async fn send_scripts(&self, engine: &mpsc::Sender<EngineInput>) {
        if self.plan.is_some() {
            drop(engine.send(EngineInput::Scripts(Box::new(self.set.to_found()))).await);
        }
    }

    /// Looks after the hooks until all activity ends. The person replays runs that failed before
    /// their script was fixed. With `looks`, the person also resolves actions that a restore left
    /// in doubt.
    pub(crate) async fn run_until_idle(&self, looks: bool, engine: &mpsc::Sender<EngineInput>) {
        let mut quiet = 0;
        for _ in 0..LOOKS_MAX {
            if self.plan.is_none() || quiet >= QUIET_LOOKS {
                return;
            }
            sleep(LOOKS_EVERY).await;
            let Some(Reply::Hooks(view)) = query(engine, EngineQuery::Hooks).await else { return };
            let spoke = self.handle_failures(&view, looks, engine).await;
            let waits = view.waiting.iter().any(|wish| wish.on_hold.is_none());
            let goes_on = spoke || waits || !view.failed.is_empty();
            quiet = if goes_on { 0 } else { quiet.saturating_add(1) };
        }
    }

    async fn handle_failures(
        &self,
        view: &HooksView,
        looks: bool,
        engine: &mpsc::Sender<EngineInput>,
    ) -> bool {
        let mut spoke = false;
        for dead in view.dead.iter().filter(|dead| dead.message.contains(FAILURE_MESSAGE)) {
            let event = dead.event.clone();
            let replayed = ask(engine, |reply| {
                EngineInput::Command(EngineCommand::Replay(event, ACTOR.to_owned()), reply)
            });
            spoke |= replayed.await.is_some();
        }
        for wish in view.waiting.iter().filter(|_| looks) {
            spoke |= self.resolve_action(wish, engine).await.is_some();
        }
        spoke
    }

    /// Resolves an action that a restore left in doubt.
    async fn resolve_action(
        &self,
        wish: &ActionView,
        engine: &mpsc::Sender<EngineInput>,
    ) -> Option<()> {
        let named = wish.on_hold.as_ref()?.split_once("reckon store release ")?.1;
        let name: String = named.chars().take_while(|found| *found != '`').collect();
        let done = self.courier.has_arrived(name.strip_prefix("Action/")?);
        let said = ReleaseRequest { keys: vec![name.parse().ok()?], done };
        release(engine, said).await
    }
}
