//! Carries commands out: appends, handles the consequences, answers.

use tokio::sync::oneshot;

use crate::base::id::Key;
use crate::engine::commands::action::{TRIES, report, run_action};
use crate::engine::commands::action_ready::ReadyAction;
use crate::engine::commands::decision::{CommandWork, Decision};
use crate::engine::commands::links::make_page;
use crate::engine::core::coordinator::Engine;
use crate::engine::core::tasks::TaskClass;
use crate::engine::handles::shared::EngineResult;
use crate::engine::handles::task_result::EffectJob;
use crate::engine::protocol::actions::ActionStatus;
use crate::engine::protocol::approvals::SavedPlan;
use crate::engine::protocol::input::{EngineCommand, PayerRequest};
use crate::engine::protocol::payers::PageLink;
use crate::engine::protocol::query::Reply;
use crate::engine::scheduler::admission::unsettled_message;
use crate::engine::scheduler::schedule::{LaneBlocked, RequestedAction};
use crate::model::intent::Cause;
use crate::model::operator::PlanUse;
use crate::model::record::Record;

impl Engine {
    /// Carries out a command in a process in which nothing else runs.
    ///
    /// # Errors
    /// The state cannot be read or written.
    pub async fn command(&mut self, command: EngineCommand) -> EngineResult<Reply> {
        let (result, answer) = match self.view().decide(command)?.work {
            CommandWork::Answer(answer) => return Ok(answer),
            CommandWork::Append(append) => append.perform(&self.shared).await?,
            CommandWork::Run(task) => task.await?,
        };
        self.finish(result)?;
        Ok(answer)
    }

    /// Starts to carry out a decision; the reply follows once its consequences are handled.
    pub(crate) fn carry_out(&mut self, decision: Decision, reply: oneshot::Sender<Reply>) {
        let Decision { locked, settles, work } = decision;
        self.scheduler.lock(locked);
        if let Some(open) = settles {
            self.scheduler.occupy_lane(&open.intent);
        }
        let shared = self.shared.clone();
        let task = match work {
            // The asker may have gone away.
            CommandWork::Answer(answer) => return drop(reply.send(answer)),
            CommandWork::Append(append) => Box::pin(async move { append.perform(&shared).await }),
            CommandWork::Run(task) => task,
        };
        self.tasks.spawn(TaskClass::Command, async move {
            let (result, answer) = task.await?;
            Ok(result.with_reply(answer, reply))
        });
    }

    /// Handles a payer's request. The asker may have gone away.
    pub(crate) fn handle_payer(&mut self, asked: PayerRequest) {
        match asked {
            PayerRequest::Open(link, to) => to.send(self.view().intake(&link)).unwrap_or_default(),
            PayerRequest::Submit(token, reply) => self.carry_out(self.view().attach(token), reply),
        }
    }

    /// Performs the effect that the resource offers to a visitor, and answers with the page.
    pub(crate) fn visit(&mut self, key: &Key, reply: oneshot::Sender<PageLink>) {
        let Some(effect) = self.view().offered_effect(key) else {
            return reply.send(None).unwrap_or_default();
        };
        self.scheduler.lock([key.clone()]);
        let step = self.planner.full_step(&self.known_state, key);
        let (shared, job) = (self.shared.clone(), self.job(key, effect, step.as_ref()));
        self.tasks.spawn(TaskClass::Command, async move { make_page(&shared, job, reply).await });
    }

    /// Performs an action; answers once it is settled, or can only be settled by a person. An engine
    /// that stops leaves it to the next one.
    pub(crate) fn act(&mut self, request: RequestedAction) {
        if self.stopping {
            // The next engine does what a person asks, and finds what a hook asks in the state.
            if !request.by_hook {
                self.scheduler.lanes.defer_action(request);
            }
            return;
        }
        let asked = &request.command;
        if let Some(freeze) = self.known_state.holds.freeze() {
            let why = freeze.sentence();
            let told = report(None, &asked.action.verb, ActionStatus::Blocked, why);
            return request.answer(told);
        }
        let ready = match self.view().ready(asked) {
            Ok(ready) => ready,
            Err(told) => return request.answer(*told),
        };
        let key = ready.effect.key.clone();
        if self.scheduler.busy.contains(&key) {
            return self.scheduler.lanes.defer_action(request);
        }
        match self.take_lane(&key, &ready.effect) {
            Ok(()) => self.start_action(&key, &ready, request.reply),
            Err(LaneBlocked::Running) => self.scheduler.lanes.defer_action(request),
            Err(LaneBlocked::Unsettled(held)) => {
                let (verb, why) = (&asked.action.verb, unsettled_message(&held));
                let told = report(Some(key), verb, ActionStatus::Blocked, why);
                request.answer(told);
            }
        }
    }

    fn start_action(&mut self, key: &Key, ready: &ReadyAction, reply: oneshot::Sender<Reply>) {
        self.scheduler.busy.insert(key.clone());
        let afterwards = self.view().afterwards(&ready.effect);
        let step = self.planner.full_step(&self.known_state, key);
        let jobs = (0..TRIES).map(|_| {
            let job = self.job(key, ready.effect.clone(), step.as_ref());
            // The cause of a document, in the name of a person.
            EffectJob { cause: Cause { actor: Some(ready.actor.clone()), ..job.cause }, ..job }
        });
        let jobs: Vec<EffectJob> = jobs.collect();
        let shared = self.shared.clone();
        self.tasks.spawn(TaskClass::Command, async move {
            let finished = run_action(&shared, jobs, reply).await?;
            afterwards.read(&shared, finished).await
        });
    }

    /// Uses a plan up: it is never applied again. The record is on disk on return. From then on the
    /// run acts on the plan's steps alone.
    pub async fn use_plan(&mut self, saved: &SavedPlan, actor: String) -> EngineResult<()> {
        let (plan, token, at) = (saved.id.clone(), saved.token.clone(), self.shared.now());
        let checksum = saved.plan.checksum.clone();
        let used = PlanUse { plan, token, checksum, actor, at };
        self.shared.write(Vec::new(), vec![Record::PlanUsed(Box::new(used))]).await?;
        self.select_targets(saved.steps.iter().map(|step| step.key.clone()).collect());
        Ok(())
    }
}
