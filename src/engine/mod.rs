//! The engine: the single owner of state, which joins the floors below.
//!
//! The engine keeps the desired and the observed state, asks the planner for the steps, and starts
//! one task per resource that has work. A task writes its intent, sends the call, settles the
//! answer and ends. Only then does the engine plan that resource again. Other parts send [`EngineInput`]s
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
mod start;
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
use crate::plan::{Planner, StateView};
use crate::store::rekey::Rekeyer;
use again::RefreshTimer;
use hooks::Scripts;
use inbox::EventSchedule;
use lone::LaneTable;
use pace::Throttle;
use reader::{TreeReadRequest, TreeReader};
use retention::RetentionTimer;
use sweep::SweepSchedule;

pub use act::{ActionCommand, ActionReport, ActionStatus};
pub use approve::ApproveLive;
pub use attach::{AttachToken, PayerRequest, SubmitToken};
pub use booking::AllowPrune;
pub use compaction::CompactionPlan;
pub use epoch::StateReply;
pub use event::EngineInput;
pub use files::SpecSource;
pub use happened::{EffectReport, EffectVerb};
pub use hooks::{
    DeliveryAttempt, NotificationSender, PastEvent, PastRun, ScriptSet, past_events, remote_get,
};
pub use inbox::{EventReceiver, PollResult, Receipt, ResyncEvents, ResyncedEvents};
pub use intake::{Intake, IntakeLink, IntakePage, IntakeTerms};
pub use notice::IncomingWebhook;
pub use plan_approval::{ApprovingPlan, CHECKSUM_SHORT, PlanApprovalResult};
pub use question::{
    ActionView, Against, ComparedTrees, Confidence, DisownPreview, DisownedView, DownHostView,
    DueView, EngineQuery, EventTotals, EventView, EventsView, EventsWanted, FailedActionView,
    FailedRunView, HookTotals, HooksView, IgnoredView, IntentEvidence, IntentView, IntentsView,
    ListReadView, LocalReply, MerchantQuota, Metrics, MoneyView, Overview, PaymentView,
    PaymentsView, PlanView, QuotasView, ReceiverView, RemadeView, Reply, ResourceView, ScriptView,
    StepView, TrafficView, TrialRunQuery, UnknownName, UnknownObjectView, disown_preview,
    step_sums, sum_money,
};
pub use resolve::{ManualResolution, ResolveIntent, ResolveResult};
pub use retention::Retention;
pub use saved::{PlanChange, PlanUnfit, SAVED_PLAN, SavePlan, SavedPlan, SavedStep, UsedBefore};
pub use schedule::Backoff;
pub use shared::{
    EngineError, EngineParts, EngineSettings, EngineShared, PartnerAccess, SecretError,
    SecretResolver,
};
pub use signed::ApproveSigned;
pub use sweep::SweepResult;
pub use tasks::TaskResult;
pub use trail::{Provenances, RecordRefs, WhySubject, locate};
pub use unable::TaskFailure;
pub use visit::{PageLink, SecretLink};
pub use world::KnownState;

/// End condition of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunUntil {
    /// Ends when only outside events remain.
    Settled,
    /// Ends at [`EngineInput::Stop`].
    Stopped,
}

/// Owns the state and runs the loop.
pub struct Engine {
    shared: Arc<EngineShared>,
    known_state: KnownState,
    planner: Planner,
    next_intent: IntentId,
    tasks: JoinSet<TaskResult>,
    busy: BTreeSet<Key>,
    lanes: LaneTable,
    throttle: Throttle,
    account_refresh: RefreshTimer,
    sweeps: SweepSchedule,
    event_schedule: EventSchedule,
    scripts: Scripts,
    retention: RetentionTimer,
    compaction: Option<CompactionPlan>,
    rekeyer: Option<Arc<Rekeyer>>,
    queue: BTreeSet<Key>,
    backoff: Backoff,
    failures: BTreeMap<Key, TaskFailure>,
    targets: Option<BTreeSet<Key>>,
    plan_cap: Option<bounds::PlanCap>,
    waiters: Vec<oneshot::Sender<Reply>>,
    reader: TreeReader,
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
    pub fn new(shared: Arc<EngineShared>, specs: Box<dyn SpecSource>) -> Result<Self, EngineError> {
        let planner = Planner::new(shared.settings.planning.clone());
        drop(shared.writer.changed_resources().take());
        let world = KnownState::load(&shared.facts, specs, shared.clock.clone())?;
        let world = world.with_limits(shared.guard.clone(), shared.settings.cautious_start);
        let next_intent = shared.facts.next_intent()?;
        let mut engine = Self {
            shared,
            known_state: world,
            planner,
            next_intent,
            tasks: JoinSet::new(),
            busy: BTreeSet::new(),
            lanes: LaneTable::default(),
            throttle: Throttle::default(),
            account_refresh: RefreshTimer::default(),
            sweeps: SweepSchedule::default(),
            event_schedule: EventSchedule::default(),
            scripts: Scripts::default(),
            retention: RetentionTimer::default(),
            compaction: None,
            rekeyer: None,
            queue: BTreeSet::new(),
            backoff: Backoff::default(),
            failures: BTreeMap::new(),
            targets: None,
            plan_cap: None,
            waiters: Vec::new(),
            reader: TreeReader::default(),
            overviews: watch::Sender::default(),
            stopping: false,
        };
        let made = engine.planner.recompute_all(&engine.known_state);
        engine.enqueue(made);
        engine.check_whole_plan();
        engine.publish();
        Ok(engine)
    }

    /// Restricts the run to these resources, for `--target` and path arguments.
    pub fn select_targets(&mut self, keys: BTreeSet<Key>) {
        self.queue.retain(|key| keys.contains(key));
        self.targets = Some(keys);
        self.check_whole_plan();
    }

    /// Returns the planner, for read access to the plan.
    pub fn planner(&self) -> &Planner {
        &self.planner
    }

    /// Returns the desired state that the files describe.
    pub fn desired(&self) -> &Desired {
        self.known_state.desired()
    }

    /// Resources whose last attempt failed, with the failure.
    pub fn failures(&self) -> &BTreeMap<Key, TaskFailure> {
        &self.failures
    }

    /// Runs the loop until the condition of `until`.
    pub async fn run(
        &mut self,
        mut events: mpsc::Receiver<EngineInput>,
        until: RunUntil,
    ) -> Result<(), EngineError> {
        self.recover();
        let mut moves = self.shared.clock.moves();
        loop {
            self.start_bookkeeping();
            self.retry_refused();
            self.start_tasks()?;
            self.begin_read();
            self.start_account_reads();
            self.publish();
            if self.tasks.is_empty() && self.idle() {
                for waiter in self.waiters.drain(..) {
                    drop(waiter.send(Reply::Settled));
                }
            }
            if self.tasks.is_empty()
                && (self.stopping || (until == RunUntil::Settled && self.idle()))
            {
                return Ok(());
            }
            let due = self.backoff.next_due();
            let dated = self.next_dates();
            let again = self.next_account_read();
            let looks = [
                self.next_sweep(),
                self.next_event_poll(),
                self.next_hooks(),
                self.next_retention(),
            ];
            let sweep = looks.into_iter().flatten().min();
            let shared = self.shared.clone();
            tokio::select! {
                biased;
                Some(event) = events.recv(), if !self.stopping => self.handle(event)?,
                Some(event) = self.scripts.asked.recv() => self.handle(event)?,
                Some(finished) = self.tasks.join_next(), if !self.tasks.is_empty() => {
                    self.finish(finished.map_err(EngineError::from)?)?;
                }
                looked = self.reader.wait() => self.files_read(looked?)?,
                () = shared.in_doubt_signal().notified() => self.catch_up()?,
                () = schedule::wait_for_clock_move(&mut moves), if !self.stopping => self.clock_moved()?,
                () = schedule::sleep_until(due), if due.is_some() && !self.stopping => self.retry(),
                () = schedule::sleep_until(dated), if dated.is_some() && !self.stopping => self.replan_dated(),
                () = schedule::sleep_until(again), if again.is_some() && !self.stopping => {}
                () = schedule::sleep_until(sweep), if sweep.is_some() && !self.stopping => {
                    self.sweep();
                    self.start_due_polls();
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
        self.queue.is_empty() && self.backoff.nothing_due() && !self.reader.is_busy()
    }

    /// Handles one event. Every answer is made from the current fold.
    fn handle(&mut self, event: EngineInput) -> Result<(), EngineError> {
        self.catch_up()?;
        match event {
            EngineInput::Files(paths) => self.read_files(TreeReadRequest::of_paths(paths))?,
            EngineInput::Verify(reply) => {
                self.read_files(
                    TreeReadRequest::for_query(EngineQuery::Plan, reply).with_contents(),
                )?;
            }
            EngineInput::Ask(question, reply) if question.is_about_files() => {
                self.read_files(TreeReadRequest::for_query(question, reply))?;
            }
            EngineInput::Ask(question, reply) => {
                let answer = self.answer(question)?;
                // The asker may have gone away; the answer is dropped then.
                drop(reply.send(answer));
            }
            EngineInput::PartnerWebhook(notice, stored) => self.receive_webhook(notice, stored),
            EngineInput::Posted => self.posts_arrived(),
            EngineInput::ActionsRequested(asked) => self.actions_requested(asked)?,
            EngineInput::Replay(event, actor, reply) => self.replay(event, actor, reply),
            EngineInput::Rotate(asked, actor, reply) => self.rotate(&asked, actor, reply)?,
            EngineInput::ResyncEvents(asked, reply) => self.recover_events(asked, reply),
            EngineInput::ForgetScript(script, actor, reply) => {
                self.forget_script(script, actor, reply);
            }
            EngineInput::Dismiss(event, actor, reply) => self.dismiss(event, actor, reply),
            EngineInput::DismissOrphan(what, actor, reply) => {
                self.dismiss_orphan(what, actor, reply);
            }
            EngineInput::Scripts(found) => self.use_scripts(*found)?,
            EngineInput::Visit(key, page) => self.visit(&key, page),
            EngineInput::Payer(asked) => self.handle_payer(asked),
            EngineInput::Approve(approving, reply) => self.approve(approving, reply),
            EngineInput::Refresh(reply) => self.refresh(reply),
            EngineInput::Act(asked, reply) => self.act(asked, reply),
            EngineInput::Resolve(resolving, reply) => self.resolve(resolving, reply),
            EngineInput::ApprovePlan(approving, reply) => self.approve_plan(approving, reply),
            EngineInput::ApproveSigned(signing, reply) => self.approve_signed(signing, reply),
            EngineInput::Suspend(pause, actor, reply) => self.suspend(&pause, actor, reply),
            EngineInput::Allow(allowing, actor, reply) => self.allow(&allowing, &actor, reply),
            EngineInput::Release(said, actor, reply) => self.release(said, actor, reply),
            EngineInput::Import(asked, actor, reply) => self.import(asked, actor, reply),
            EngineInput::Inventory(asked, reply) => self.inventory(&asked, reply),
            EngineInput::RemoteGet(asked, reply) => self.remote_get(&asked, reply),
            EngineInput::Compact(drop_history, actor, reply) => {
                self.compact(drop_history, actor, reply);
            }
            EngineInput::Rekey(file, actor, reply) => self.rekey(file, actor, reply),
            EngineInput::Forget(what, actor, reply) => self.forget(&what, actor, reply)?,
            EngineInput::Stop => {
                self.stopping = true;
                self.shared.stop();
                self.lanes.drop_deferred();
            }
        }
        Ok(())
    }

    /// Plans these resources again and queues the work. A new request clears the failure and the
    /// backoff of an older one.
    fn replan(&mut self, keys: BTreeSet<Key>) {
        for key in &keys {
            self.failures.remove(key);
            self.backoff.clear(key);
        }
        let made = self.planner.recompute(&self.known_state, keys);
        self.enqueue(made);
    }
}
