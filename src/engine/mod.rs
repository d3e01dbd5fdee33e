//! The engine: the single owner of state, which joins the floors below.
//!
//! The engine keeps the desired and the observed state, asks the planner for the steps, and starts
//! one task per resource that has work. A task writes its intent, sends the call, settles the
//! answer and ends. Only then does the engine plan that resource again. Other parts send [`Event`]s
//! over a bounded channel.
//!
//! Guarantees:
//! - Nothing is sent before its intent is on disk.
//! - A resource has at most one effect under way.
//! - Dropping the engine at any await leaves a state from which the next start continues.

mod access;
mod act;
mod adopt;
mod again;
mod approve;
mod attach;
mod body;
mod booking;
mod bounds;
mod cause;
mod compaction;
mod current;
mod dismiss;
mod epoch;
mod event;
mod files;
mod first_look;
mod forget;
mod found;
mod gate;
mod guilty;
mod happened;
mod hooks;
mod inbox;
mod intake;
mod inventory;
mod limits;
mod lone;
mod meter;
mod notice;
mod once;
mod pace;
mod perform;
mod plan_approval;
mod question;
mod queue;
mod read;
mod reader;
mod recall;
mod rekey;
mod resolve;
mod retention;
mod rotate;
mod saved;
mod schedule;
mod settle;
mod shared;
mod show;
mod signed;
mod suspend;
mod sweep;
mod tasks;
mod token;
mod trail;
mod unable;
mod unauthorised;
mod visit;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

use crate::base::id::{IntentId, Key};
use crate::model::desired::Desired;
use crate::plan::{Planner, World};
use crate::store::rekey::Rekeyer;
use again::Again;
use hooks::Scripts;
use inbox::Inboxes;
use lone::Lone;
use pace::Pace;
use reader::{Look, Reader};
use retention::Keeper;
use sweep::Sweeps;

pub use act::{Acted, Asked, Stands};
pub use approve::Approving;
pub use attach::{Attaching, Bringing, Payer};
pub use booking::Allowing;
pub use compaction::Compaction;
pub use epoch::StateReply;
pub use event::Event;
pub use files::Specs;
pub use happened::{Happened, Verb};
pub use hooks::{Carried, Courier, Found, PastEvent, PastRun, recount, showing};
pub use inbox::{Inbox, Looked, Recovered, Recovering, Taken};
pub use intake::{Asking, Intake, IntakeLink, Terms};
pub use notice::Notice;
pub use plan_approval::{ApprovingPlan, CHECKSUM_SHORT, PlanAnswer};
pub use question::{
    Against, Compared, Confidence, DisownedView, Disowning, DueView, EventTotals, EventView,
    EventsView, EventsWanted, Evidence, FailedView, HookTotals, HooksView, IgnoredView, IntentView,
    IntentsView, LookView, MerchantQuota, Metrics, MoneyView, Overview, PaymentView, PaymentsView,
    PlanView, Question, QuotasView, ReceiverView, Rehearsing, RemadeView, Reply, ResourceView,
    ScriptView, SilentView, StepView, StrayView, Told, TrafficView, UndoneView, Unknown, WishView,
    added, disowning, sums,
};
pub use resolve::{Resolved, Resolving, Said};
pub use retention::Retention;
pub use saved::{Moved, SAVED_PLAN, SavedPlan, SavedStep, Saving, Unfit, UsedBefore};
pub use schedule::Backoff;
pub use shared::{EngineError, PartnerAccess, Parts, SecretError, Secrets, Settings, Shared};
pub use signed::Signing;
pub use sweep::Swept;
pub use tasks::Finished;
pub use trail::{Sought, Trail, Wanted, seek};
pub use unable::Unable;
pub use visit::{Link, Page};
pub use world::Standing;

/// End condition of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Ends when only outside events remain.
    Settled,
    /// Ends at [`Event::Stop`].
    Stopped,
}

/// Owns the state and runs the loop.
pub struct Engine {
    shared: Arc<Shared>,
    world: Standing,
    planner: Planner,
    next_intent: IntentId,
    tasks: JoinSet<Finished>,
    busy: BTreeSet<Key>,
    lone: Lone,
    pace: Pace,
    again: Again,
    sweeps: Sweeps,
    inboxes: Inboxes,
    scripts: Scripts,
    keeper: Keeper,
    compaction: Option<Compaction>,
    rekeyer: Option<Arc<Rekeyer>>,
    queue: BTreeSet<Key>,
    backoff: Backoff,
    unable: BTreeMap<Key, Unable>,
    chosen: Option<BTreeSet<Key>>,
    bounds: Option<bounds::Bounds>,
    waiters: Vec<oneshot::Sender<Reply>>,
    reader: Reader,
    overviews: watch::Sender<Overview>,
    stopping: bool,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Engine({} busy, {} queued)", self.busy.len(), self.queue.len())
    }
}

impl Engine {
    /// Builds the engine from the journal's read model and the documents.
    pub fn new(shared: Arc<Shared>, specs: Box<dyn Specs>) -> Result<Self, EngineError> {
        let planner = Planner::new(shared.settings.planning.clone());
        drop(shared.writer.touched().take());
        let world = Standing::load(&shared.facts, specs, shared.clock.clone())?;
        let world = world.guarded(shared.guard.clone(), shared.settings.cautious_start);
        let next_intent = shared.facts.next_intent()?;
        let mut engine = Self {
            shared,
            world,
            planner,
            next_intent,
            tasks: JoinSet::new(),
            busy: BTreeSet::new(),
            lone: Lone::default(),
            pace: Pace::default(),
            again: Again::default(),
            sweeps: Sweeps::default(),
            inboxes: Inboxes::default(),
            scripts: Scripts::default(),
            keeper: Keeper::default(),
            compaction: None,
            rekeyer: None,
            queue: BTreeSet::new(),
            backoff: Backoff::default(),
            unable: BTreeMap::new(),
            chosen: None,
            bounds: None,
            waiters: Vec::new(),
            reader: Reader::default(),
            overviews: watch::Sender::default(),
            stopping: false,
        };
        let made = engine.planner.all(&engine.world);
        engine.enqueue(made);
        engine.look_at_whole();
        engine.publish();
        Ok(engine)
    }

    /// Restricts the run to these resources, for `--target` and path arguments.
    pub fn choose(&mut self, keys: BTreeSet<Key>) {
        self.queue.retain(|key| keys.contains(key));
        self.chosen = Some(keys);
        self.look_at_whole();
    }

    /// Returns the planner, for read access to the plan.
    pub fn planner(&self) -> &Planner {
        &self.planner
    }

    /// Returns the desired state that the files describe.
    pub fn desired(&self) -> &Desired {
        self.world.desired()
    }

    /// Resources whose last attempt failed, with the failure.
    pub fn unable(&self) -> &BTreeMap<Key, Unable> {
        &self.unable
    }

    /// Runs the loop until the condition of `until`.
    pub async fn run(
        &mut self,
        mut events: mpsc::Receiver<Event>,
        until: Until,
    ) -> Result<(), EngineError> {
        self.recover();
        let mut moves = self.shared.clock.moves();
        loop {
            self.book();
            self.try_refused();
            self.start_tasks()?;
            self.begin_look();
            self.read_again();
            self.publish();
            if self.tasks.is_empty() && self.idle() {
                for waiter in self.waiters.drain(..) {
                    drop(waiter.send(Reply::Settled));
                }
            }
            if self.tasks.is_empty() && (self.stopping || (until == Until::Settled && self.idle()))
            {
                return Ok(());
            }
            let due = self.backoff.next_due();
            let dated = self.next_dates();
            let again = self.next_again();
            let looks =
                [self.next_sweep(), self.next_look(), self.next_hooks(), self.next_retention()];
            let sweep = looks.into_iter().flatten().min();
            let shared = self.shared.clone();
            tokio::select! {
                biased;
                Some(event) = events.recv(), if !self.stopping => self.handle(event)?,
                Some(event) = self.scripts.asked.recv() => self.handle(event)?,
                Some(finished) = self.tasks.join_next(), if !self.tasks.is_empty() => {
                    self.finish(finished.map_err(EngineError::from)?)?;
                }
                looked = self.reader.done() => self.looked_at_files(looked?)?,
                () = shared.doubted().notified() => self.catch_up()?,
                () = schedule::moved(&mut moves), if !self.stopping => self.clock_moved()?,
                () = schedule::until(due), if due.is_some() && !self.stopping => self.retry(),
                () = schedule::until(dated), if dated.is_some() && !self.stopping => self.redate(),
                () = schedule::until(again), if again.is_some() && !self.stopping => {}
                () = schedule::until(sweep), if sweep.is_some() && !self.stopping => {
                    self.sweep();
                    self.look_at_events();
                    self.hooks_due()?;
                    self.drop_old();
                }
                else => return Ok(()),
            }
        }
    }

    /// Subscribes to the overview; the receiver gets each change.
    pub fn overviews(&self) -> watch::Receiver<Overview> {
        self.overviews.subscribe()
    }

    /// Publishes the overview if it changed.
    fn publish(&self) {
        let now = self.overview();
        self.overviews.send_if_modified(|told| {
            let news = *told != now;
            if news {
                *told = now;
            }
            news
        });
    }

    /// Returns true if only outside events remain.
    fn idle(&self) -> bool {
        self.queue.is_empty() && self.backoff.is_empty() && !self.reader.is_busy()
    }

    /// Handles one event. Every answer is made from the current fold.
    fn handle(&mut self, event: Event) -> Result<(), EngineError> {
        self.catch_up()?;
        match event {
            Event::Files(paths) => self.look_at_files(Look::at(paths))?,
            Event::Verify(reply) => {
                self.look_at_files(Look::before(Question::Plan, reply).at_contents())?;
            }
            Event::Ask(question, reply) if question.is_about_files() => {
                self.look_at_files(Look::before(question, reply))?;
            }
            Event::Ask(question, reply) => {
                let answer = self.answer(question)?;
                // The asker may have gone away; the answer is dropped then.
                drop(reply.send(answer));
            }
            Event::Notice(notice, stored) => self.hear(notice, stored),
            Event::Posted => self.posted(),
            Event::Wished(asked) => self.wished(asked)?,
            Event::Replay(event, actor, reply) => self.replay(event, actor, reply),
            Event::Rotate(asked, actor, reply) => self.rotate(&asked, actor, reply)?,
            Event::Recover(asked, reply) => self.recover_events(asked, reply),
            Event::ForgetScript(script, actor, reply) => self.forget_script(script, actor, reply),
            Event::Dismiss(event, actor, reply) => self.dismiss(event, actor, reply),
            Event::DismissOrphan(what, actor, reply) => self.dismiss_orphan(what, actor, reply),
            Event::Scripts(found) => self.use_scripts(*found)?,
            Event::Visit(key, page) => self.visit(&key, page),
            Event::Payer(asked) => self.payer(asked),
            Event::Approve(approving, reply) => self.approve(approving, reply),
            Event::Refresh(reply) => self.refresh(reply),
            Event::Act(asked, reply) => self.act(asked, reply),
            Event::Resolve(resolving, reply) => self.resolve(resolving, reply),
            Event::ApprovePlan(approving, reply) => self.approve_plan(approving, reply),
            Event::ApproveSigned(signing, reply) => self.approve_signed(signing, reply),
            Event::Pause(pause, actor, reply) => self.pause(&pause, actor, reply),
            Event::Allow(allowing, actor, reply) => self.allow(&allowing, &actor, reply),
            Event::Release(said, actor, reply) => self.release(said, actor, reply),
            Event::Import(asked, actor, reply) => self.import(asked, actor, reply),
            Event::Inventory(asked, reply) => self.inventory(&asked, reply),
            Event::Show(asked, reply) => self.show(&asked, reply),
            Event::Compact(drop_history, actor, reply) => self.compact(drop_history, actor, reply),
            Event::Rekey(file, actor, reply) => self.rekey(file, actor, reply),
            Event::Forget(what, actor, reply) => self.forget(&what, actor, reply)?,
            Event::Stop => {
                self.stopping = true;
                self.shared.stop();
                self.lone.let_go();
            }
        }
        Ok(())
    }

    /// Plans these resources again and queues the work. A new request clears the failure and the
    /// backoff of an older one.
    fn look_again(&mut self, keys: BTreeSet<Key>) {
        for key in &keys {
            self.unable.remove(key);
            self.backoff.clear(key);
        }
        let made = self.planner.touch(&self.world, keys);
        self.enqueue(made);
    }
}
