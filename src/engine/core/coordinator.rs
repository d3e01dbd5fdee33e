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

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, watch};

use crate::base::id::{IntentId, Key};
use crate::engine::alerts::watch::Alerts;
use crate::engine::core::retention::{CompactionPlan, RetentionTimer};
use crate::engine::core::tasks::{Tasks, TreeReadRequest, TreeReader};
use crate::engine::events::schedule::EventSchedule;
use crate::engine::handles::feed::EngineFeed;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::handles::task_result::TaskFailure;
use crate::engine::hooks::scripts::Scripts;
use crate::engine::known::files::ReadScope;
use crate::engine::known::files::SpecSource;
use crate::engine::known::known_state::{KnownState, StoredFacts};
use crate::engine::known::money_book::MoneyBook;
use crate::engine::known::timed_holds::TimedHolds;
use crate::engine::limits::plan_cap;
use crate::engine::protocol::actions::EffectReport;
use crate::engine::protocol::input::EngineInput;
use crate::engine::protocol::query::{EngineQuery, Reply};
use crate::engine::protocol::views::Overview;
use crate::engine::readers::timers::Readers;
use crate::engine::scheduler::backoff;
use crate::engine::scheduler::schedule::{RequestedAction, Scheduler};
use crate::engine::view::EngineView;
use crate::model::manifest::Desired;
use crate::plan::planner::Planner;
use crate::plan::state_view::StateView;
use crate::store::state::rekey::Rekeyer;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunUntil {
    /// Ends when only outside events remain.
    Settled,
    /// Ends at [`EngineInput::Stop`].
    Stopped,
}

/// Builds the snapshot for a part of an engine, while another part of it changes.
macro_rules! snapshot {
    ($engine:expr) => {
        $crate::engine::known::known_state::Snapshot {
            shared: &$engine.shared,
            known_state: &$engine.known_state,
            planner: &$engine.planner,
            busy: &$engine.scheduler.busy,
            stopping: $engine.stopping,
        }
    };
}
pub(crate) use snapshot;

/// Owns the state and runs the loop.
#[derive(derive_more::Debug)]
#[debug("Engine({scheduler:?})")]
pub struct Engine {
    pub(crate) shared: Arc<EngineShared>,
    pub(crate) known_state: KnownState,
    /// Boxed: the engine is moved from future to future.
    pub(crate) planner: Box<Planner>,
    pub(crate) next_intent: IntentId,
    pub(crate) tasks: Tasks,
    pub(crate) scheduler: Scheduler,
    pub(crate) readers: Readers,
    pub(crate) event_schedule: EventSchedule,
    pub(crate) scripts: Scripts,
    pub(crate) money: MoneyBook,
    pub(crate) alerts: Alerts,
    pub(crate) retention: RetentionTimer,
    pub(crate) compaction: Option<CompactionPlan>,
    pub(crate) rekeyer: Option<Arc<Rekeyer>>,
    pub(crate) plan_cap: Option<plan_cap::PlanCap>,
    pub(crate) waiters: Vec<oneshot::Sender<Reply>>,
    pub(crate) reader: TreeReader,
    overviews: watch::Sender<Overview>,
    pub(crate) stopping: bool,
}

impl Engine {
    /// Builds the engine from the journal's read model and the documents.
    pub fn new(shared: Arc<EngineShared>, specs: Box<dyn SpecSource>) -> EngineResult<Self> {
        let stored = Self::read_facts(&shared)?;
        Self::of(shared, stored, specs)
    }

    /// Reads the facts of all resources, which can take place while the documents are read. What is
    /// written from now on is noted as changed.
    pub fn read_facts(shared: &EngineShared) -> EngineResult<StoredFacts> {
        drop(shared.writer.changed_resources().take());
        Ok(StoredFacts::read(&shared.facts)?)
    }

    /// Builds the engine from facts that were read and from the documents.
    pub fn of(
        shared: Arc<EngineShared>,
        stored: StoredFacts,
        specs: Box<dyn SpecSource>,
    ) -> EngineResult<Self> {
        let planner = Box::new(Planner::new(shared.settings.planning.clone()));
        let world = KnownState::new(&shared.facts, stored, specs, shared.clock.clone())?;
        let mut world = world.with_limits(shared.guard.clone(), shared.settings.cautious_start);
        let times = shared.settings.policy.times.clone();
        world.holds.timed = TimedHolds::new(times, shared.now());
        let next_intent = shared.facts.next_intent()?;
        let scheduler = Scheduler::new(shared.limiter.clone(), shared.superseded.clone());
        let mut engine = Self {
            shared,
            known_state: world,
            planner,
            next_intent,
            tasks: Tasks::default(),
            scheduler,
            readers: Readers::default(),
            event_schedule: EventSchedule::default(),
            scripts: Scripts::default(),
            money: MoneyBook::default(),
            alerts: Alerts::default(),
            retention: RetentionTimer::default(),
            compaction: None,
            rekeyer: None,
            plan_cap: None,
            waiters: Vec::new(),
            reader: TreeReader::default(),
            overviews: watch::Sender::default(),
            stopping: false,
        };
        engine.close_or_open_gate();
        let made = engine.planner.recompute_all(&engine.known_state);
        engine.enqueue(made);
        engine.check_whole_plan();
        engine.publish();
        Ok(engine)
    }

    /// Restricts the run to these resources, for `--target` and path arguments.
    pub fn select_targets(&mut self, keys: BTreeSet<Key>) {
        self.scheduler.select_targets(keys);
        self.check_whole_plan();
    }

    pub fn view(&self) -> EngineView<'_> {
        EngineView {
            snapshot: snapshot!(self),
            scheduler: &self.scheduler,
            readers: &self.readers,
            event_schedule: &self.event_schedule,
            scripts: &self.scripts,
            money: &self.money,
            alerts: &self.alerts,
        }
    }

    /// Answers a question from the present state.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn answer(&self, question: EngineQuery) -> EngineResult<Reply> {
        self.view().answer(question)
    }

    pub fn planner(&self) -> &Planner {
        &self.planner
    }

    pub fn desired(&self) -> &Desired {
        self.known_state.desired()
    }

    /// Resources whose last attempt failed, with the failure.
    pub fn failures(&self) -> &BTreeMap<Key, TaskFailure> {
        self.scheduler.failures.all()
    }

    /// Runs until the end that `until` names. Returns the requests that were not begun then, for the
    /// next engine over the same state.
    pub async fn run(
        &mut self,
        mut events: mpsc::Receiver<EngineInput>,
        until: RunUntil,
    ) -> EngineResult<Vec<EngineInput>> {
        self.run_loop(&mut events, until).await?;
        Ok(self.unhandled(events))
    }

    async fn run_loop(
        &mut self,
        events: &mut mpsc::Receiver<EngineInput>,
        until: RunUntil,
    ) -> EngineResult<()> {
        self.recover();
        let mut moves = self.shared.clock.moves();
        loop {
            self.start_bookkeeping();
            self.retry_refused();
            self.advance_time_rules();
            self.start_tasks()?;
            self.begin_read();
            self.start_account_reads();
            self.note_reconciled();
            self.alerts_due()?;
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
            let due = self.scheduler.backoff.next_due();
            let dated = self.view().next_dates();
            let again = [
                self.next_account_read(),
                self.view().next_rule_change(),
                self.view().next_alert(),
            ];
            let again = again.into_iter().flatten().min();
            let hooks = self.scripts.next_due().filter(|_| !self.stopping);
            let looks = [self.next_read(), hooks, self.retention.due];
            let sweep = looks.into_iter().flatten().min();
            let shared = self.shared.clone();
            tokio::select! {
                biased;
                Some(finished) = self.tasks.join_next(), if !self.tasks.is_empty() => {
                    self.finish(finished?)?;
                }
                Some(event) = self.scripts.asked.recv() => self.handle(event)?,
                Some(event) = events.recv(), if !self.stopping => self.handle(event)?,
                looked = self.reader.wait() => self.files_read(looked?)?,
                () = shared.in_doubt_signal.notified() => self.catch_up()?,
                () = backoff::wait_for_clock_move(&mut moves), if !self.stopping => self.clock_moved()?,
                () = backoff::sleep_until(due), if due.is_some() && !self.stopping => {
                    self.scheduler.retry(&|key| self.planner.has_work(key));
                }
                () = backoff::sleep_until(dated), if dated.is_some() && !self.stopping => self.replan_dated(),
                () = backoff::sleep_until(again), if again.is_some() && !self.stopping => {}
                () = backoff::sleep_until(sweep), if sweep.is_some() && !self.stopping => {
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

    /// Returns the source of overviews and effects, for readers outside; it ends with the engine.
    pub fn feed(&self) -> EngineFeed {
        EngineFeed { overviews: self.overviews(), effects: self.shared.effect_log.clone() }
    }

    /// Subscribes to effects, each once it is durable. A second listener replaces the first.
    pub fn subscribe_effects(&self) -> mpsc::UnboundedReceiver<EffectReport> {
        self.shared.effect_log.subscribe()
    }

    /// Ends the subscription of [`Self::subscribe_effects`]: its receiver ends.
    pub fn unsubscribe_effects(&self) {
        self.shared.effect_log.unsubscribe();
    }

    /// Notes the time if every document was read, and nothing is left that can be done now.
    fn note_reconciled(&mut self) {
        if !self.reader.is_busy() {
            self.scheduler.note_rest(self.shared.now());
        }
    }

    fn publish(&self) {
        let now = self.view().overview();
        self.overviews.send_if_modified(|told| {
            let news = *told != now;
            *told = now;
            news
        });
    }

    /// Returns true if only outside events remain.
    fn idle(&self) -> bool {
        self.scheduler.is_idle() && !self.reader.is_busy()
    }

    /// Handles one event. Every answer is made from the current fold.
    fn handle(&mut self, event: EngineInput) -> EngineResult<()> {
        self.catch_up()?;
        match event {
            EngineInput::Files(paths) => {
                let scope = ReadScope { paths, ..ReadScope::default() };
                self.read_files(TreeReadRequest { scope, questions: Vec::new() })?;
            }
            EngineInput::Verify(reply) => {
                let scope = ReadScope { verify: true, ..ReadScope::default() };
                let questions = vec![(EngineQuery::Plan, reply)];
                self.read_files(TreeReadRequest { scope, questions })?;
            }
            EngineInput::Ask(question, reply) if question.is_about_files() => {
                let (scope, questions) = (ReadScope::default(), vec![(question, reply)]);
                self.read_files(TreeReadRequest { scope, questions })?;
            }
            EngineInput::Ask(question, reply) => {
                if question == EngineQuery::Money {
                    self.money.advance(&self.planner, &self.known_state);
                }
                let answer = self.answer(question)?;
                // The asker may have gone away; the answer is dropped then.
                drop(reply.send(answer));
            }
            EngineInput::PartnerWebhook(notice, stored) => self.receive_webhook(notice, stored),
            EngineInput::Posted => self.event_schedule.posts_arrived(&self.shared),
            EngineInput::ActionsRequested(asked) => self.actions_requested(asked)?,
            EngineInput::ResyncEvents(request, reply) => self.resync_events(request, reply),
            EngineInput::Scripts(found) => self.use_scripts(*found)?,
            EngineInput::Visit(key, page) => self.visit(&key, page),
            EngineInput::Payer(asked) => self.handle_payer(asked),
            EngineInput::Command(command, reply) => {
                let decision = self.view().decide(command)?;
                self.carry_out(decision, reply);
            }
            EngineInput::Refresh(reply) => self.refresh(reply),
            EngineInput::Retry(key, reply) => self.retry(key, reply),
            EngineInput::Act(command, reply) => {
                self.act(RequestedAction { command, reply, by_hook: false });
            }
            EngineInput::Compact(drop_history, actor, reply) => {
                self.compact(drop_history, actor, reply);
            }
            EngineInput::Rekey(file, actor, reply) => self.rekey(file, actor, reply),
            EngineInput::Stop => {
                self.stopping = true;
                self.shared.stop();
                self.scheduler.lanes.drop_actions_of_hooks();
            }
        }
        Ok(())
    }

    /// Plans and queues these resources again; clears the failure and the backoff of each.
    pub(crate) fn replan(&mut self, keys: BTreeSet<Key>) {
        for key in &keys {
            self.scheduler.forget_failure(key);
        }
        self.recompute(keys);
    }

    /// Plans these resources again and queues those that have work.
    pub(crate) fn recompute(&mut self, keys: impl IntoIterator<Item = Key>) {
        let made = self.planner.recompute(&self.known_state, keys);
        self.money.note(&made);
        self.enqueue(made);
    }
}
