//! Current scripts of a run, the courier of their notifications, and the person who looks after
//! both.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use super::courier::{Pigeon, Try};
use super::set::Set;
use super::texts::BROKEN;
use super::{At, Plan};
use crate::engine::{Event, HooksView, Question, Reply, WishView};
use crate::model::epoch::Releasing;
use crate::sim::person::ask;
use crate::sim::power::Power;

/// Interval at which a person looks at failed hook runs and waiting actions.
const LOOKS_EVERY: Duration = Duration::from_secs(61);
/// Consecutive looks without any activity that end the work.
const QUIET_LOOKS: u32 = 3;
/// Most looks in all.
const LOOKS_MAX: u32 = 240;

/// State of the hooks in one run; empty without a plan.
#[derive(Debug)]
pub(crate) struct Rig {
    plan: Option<Plan>,
    set: Set,
    done: BTreeSet<usize>,
    lives: u32,
    pub(crate) courier: Pigeon,
}

impl Rig {
    /// Returns the state at the beginning.
    pub(crate) fn new(plan: Option<&Plan>, power: &Power) -> Self {
        let ways = plan.map_or(&[][..], |plan| &plan.ways);
        let courier = Pigeon::new(power.clone(), ways);
        Self { plan: plan.cloned(), set: Set::default(), done: BTreeSet::new(), lives: 0, courier }
    }

    /// Returns every attempt to deliver a notification.
    pub(crate) fn tries(&self) -> Vec<Try> {
        self.courier.tries()
    }

    /// Begins a life of the machine.
    pub(crate) async fn begin(&mut self, engine: &mpsc::Sender<Event>) {
        self.lives = self.lives.saturating_add(1);
        let life = self.lives;
        self.edit(|at| matches!(at, At::Life(due) if due <= life));
        self.tell(engine).await;
    }

    /// Makes the changes of a step.
    pub(crate) async fn step(&mut self, step: usize, engine: &mpsc::Sender<Event>) {
        if self.edit(|at| at == At::Step(step)) {
            self.tell(engine).await;
        }
    }

    /// Stops all faults.
    pub(crate) async fn calm(&mut self, engine: &mpsc::Sender<Event>) {
        self.set.put_right();
        self.courier.calm();
        self.tell(engine).await;
    }

    /// Makes every due change that was not made yet. Returns true if there was one.
    fn edit(&mut self, due: impl Fn(At) -> bool) -> bool {
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
    async fn tell(&self, engine: &mpsc::Sender<Event>) {
        if self.plan.is_some() {
            drop(engine.send(Event::Scripts(Box::new(self.set.found()))).await);
        }
    }

    /// Looks after the hooks until all activity ends. The person replays runs that failed before
    /// their script was fixed. With `looks`, the person also resolves actions that a restore left
    /// in doubt.
    pub(crate) async fn rest(&self, looks: bool, engine: &mpsc::Sender<Event>) {
        let mut quiet = 0;
        for _ in 0..LOOKS_MAX {
            if self.plan.is_none() || quiet >= QUIET_LOOKS {
                return;
            }
            sleep(LOOKS_EVERY).await;
            let Some(Reply::Hooks(view)) = ask(engine, Question::Hooks).await else { return };
            let spoke = self.look(&view, looks, engine).await;
            let waits = view.waiting.iter().any(|wish| wish.held.is_none());
            let goes_on = spoke || waits || !view.failed.is_empty();
            quiet = if goes_on { 0 } else { quiet.saturating_add(1) };
        }
    }

    async fn look(&self, view: &HooksView, looks: bool, engine: &mpsc::Sender<Event>) -> bool {
        let mut spoke = false;
        for dead in view.dead.iter().filter(|dead| dead.message.contains(BROKEN)) {
            let (reply, answer) = oneshot::channel();
            let event = Event::Replay(dead.event.clone(), "the simulator".to_owned(), reply);
            drop(engine.send(event).await);
            spoke |= answer.await.is_ok();
        }
        for wish in view.waiting.iter().filter(|_| looks) {
            spoke |= self.decide(wish, engine).await.is_some();
        }
        spoke
    }

    /// Resolves an action that a restore left in doubt.
    async fn decide(&self, wish: &WishView, engine: &mpsc::Sender<Event>) -> Option<()> {
        let named = wish.held.as_ref()?.split_once("reckon store release ")?.1;
        let name: String = named.chars().take_while(|found| *found != '`').collect();
        let done = self.courier.arrived(name.strip_prefix("Action/")?);
        let said = Releasing { keys: vec![name.parse().ok()?], done };
        let (reply, answer) = oneshot::channel();
        engine.send(Event::Release(said, "the simulator".to_owned(), reply)).await.ok()?;
        answer.await.ok().map(drop)
    }
}
