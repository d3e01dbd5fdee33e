//! People of a world while the machine lives. They change files and make requests until all faults
//! are over and everything settles.
//!
//! Approvers read a plan, remember it, think, and approve exactly that plan. Others approve live
//! merchants, open links, and receive the service's webhooks.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use chrono::TimeDelta;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::base::money::{Currency, Money};
use crate::engine::core::retention::Retention;
use crate::engine::handles::shared::EngineError;
use crate::engine::protocol::approvals::{ApproveLive, ApprovingPlan, PlanApprovalResult};
use crate::engine::protocol::input::{EngineCommand, EngineInput};
use crate::engine::protocol::query::{
    ApprovalsQuery, IntentsQuery, MetricsQuery, PlanQuery, Reply, ResourcesQuery, SettleQuery,
};
use crate::engine::protocol::resources::ResourceFilter;
use crate::engine::protocol::views::{PlanView, ResourceView};
use crate::model::effect::PER_OCCURRENCE;
use crate::sim::check::state;
use crate::sim::machine::process::{GRACE, OpenedState, TIMEOUT};
use crate::sim::plan::documents::{DocBody, DocTree};
use crate::sim::plan::people::{Approver, People, SeenPlan};
use crate::sim::run::memory::{ACTOR, Memory, command, query};
use crate::sim::run::requests::{PersonHandles, start_requests};
use crate::sim::run::settler::run_settler;
use crate::sim::run::state::{REDELIVERED_WITHIN, SETTLES_WITHIN, SimRun};
use crate::sim::service::control::fill_charge_ids;
use crate::sim::service::post_office::{EngineSender, PostOffice, WebhookReceivers};
use crate::sim::service::sandbox::SandboxControl;

/// Polls without any progress of time after which the engine counts as spinning.
const TURNS_MAX: u32 = 10_000;

/// Returns a retention that runs beside everything: it keeps settled events for 20 seconds, and
/// runs every minute. The emulated list has no delay; the machine's clock may be days ahead.
pub(crate) fn retention() -> Retention {
    let (late, ahead) = (TimeDelta::seconds(5), TimeDelta::days(30));
    Retention { keep: TimeDelta::seconds(20), every: Duration::from_mins(1), late, ahead }
}

/// Result of the people's part of a life.
pub(crate) enum DriveResult {
    Restart,
    /// All steps are done; holds whether everything settled.
    Settled(bool),
}

impl SimRun<'_> {
    /// Takes the steps of the people, from the point at which the machine died.
    pub(crate) async fn take_steps(
        &mut self,
        sender: EngineSender,
        open: &OpenedState,
    ) -> DriveResult {
        let (engine, desk) = (sender.clone(), self.desk.clone());
        let hands = PersonHandles { engine, desk, memory: self.memory.clone() };
        let mut under_way = JoinSet::new();
        self.start_restore_review(&sender, &mut under_way);
        self.rig.begin_life(&sender).await;
        for (nth, step) in self.script.steps.iter().take(self.steps).enumerate() {
            start_requests(nth, step, &hands, &mut under_way);
        }
        while let Some(step) = self.script.steps.get(self.steps) {
            let wait = Duration::from_millis(step.wait_ms);
            sleep_until(self.stepped.checked_add(wait).unwrap_or(self.stepped)).await;
            self.compare_views(&sender, open).await;
            let nth = self.steps;
            self.steps = self.steps.saturating_add(1);
            self.stepped = Instant::now();
            self.apply_incidents(nth);
            self.edit_files(|tree| step.changes.iter().for_each(|change| change.apply(tree)));
            self.rig.step(nth, &sender).await;
            if step.restart {
                drop(sender.send(EngineInput::Stop).await);
                return DriveResult::Restart;
            }
            drop(sender.send(EngineInput::Files(Vec::new())).await);
            let tree = self.tree.lock().clone();
            open_links(&tree, &sender).await;
            start_requests(nth, step, &hands, &mut under_way);
        }
        self.start_restore_review(&sender, &mut under_way);
        self.front.stop_faults();
        self.post.stop_detours();
        self.machine.power.clear_plan();
        self.memory.notes().faults_over = true;
        self.rig.stop_faults(&sender).await;
        self.edit_files(|tree| tree.values_mut().for_each(|doc| doc.broken = None));
        drop(sender.send(EngineInput::Files(Vec::new())).await);
        sleep(self.front.weather.time_until_over()).await;
        let settled = timeout(SETTLES_WITHIN, async {
            while under_way.join_next().await.is_some() {}
            query(&sender, SettleQuery).await;
            while !self.memory.wait_until_idle(&self.script.people).await {
                query(&sender, SettleQuery).await;
            }
        });
        let settled = settled.await.is_ok();
        self.front.weather.note_settled();
        self.post.wait_until_idle(&self.desk).await;
        self.rig.run_until_idle(self.has_restore_review(), &sender).await;
        sleep(TIMEOUT.saturating_add(GRACE).saturating_mul(2).max(REDELIVERED_WITHIN)).await;
        if let Some(views) = all_resources(&sender).await {
            self.views = views;
        }
        DriveResult::Settled(settled)
    }

    /// Reads every view and compares it with the fold, unless the fold changed meanwhile.
    async fn compare_views(&mut self, sender: &EngineSender, open: &OpenedState) {
        let before = open.shared.writer.head();
        let Some(asked) = read_views(sender).await else { return };
        if open.shared.writer.head() != before {
            return;
        }
        match state::check_views(&open.shared.facts, &asked) {
            Ok(found) => self.violations.extend(found),
            Err(error) => self.violate("views", format!("the index cannot be read: {error}")),
        }
    }

    fn edit_files(&mut self, change: impl FnOnce(&mut DocTree)) {
        let mut tree = self.tree.lock();
        change(&mut tree);
        fill_charge_ids(&mut tree, &self.desk.earlier_charges);
        self.history.push((self.clock.now(), tree.clone()));
    }
}

/// Runs the engine, and fails if it spins without any progress of time.
pub(crate) async fn run_watched<T>(
    run: impl Future<Output = Result<T, EngineError>>,
) -> Result<T, EngineError> {
    let mut run = pin!(run);
    let (mut since, mut turns) = (Instant::now(), 0_u32);
    poll_fn(|context| {
        let now = Instant::now();
        turns = if now == since { turns.saturating_add(1) } else { 0 };
        since = now;
        if turns > TURNS_MAX {
            return Poll::Ready(Err(EngineError::Bug(
                "the engine spins without progress of time".to_owned(),
            )));
        }
        run.as_mut().poll(context)
    })
    .await
}

async fn all_resources(sender: &EngineSender) -> Option<Vec<ResourceView>> {
    let list = query(sender, ResourcesQuery(ResourceFilter::default())).await?;
    list.ok().map(|list| list.items)
}

async fn read_views(sender: &EngineSender) -> Option<state::ViewSnapshot> {
    Some(state::ViewSnapshot {
        intents: query(sender, IntentsQuery).await?,
        metrics: query(sender, MetricsQuery).await?,
        resources: all_resources(sender).await?,
    })
}

/// Attempts of one approver per plan that the approver may approve.
const APPROVAL_TRIES: u32 = 3;

/// Reads the plan once, and approves it if a limit blocks a new step. Returns `None` if the engine
/// did not answer, else whether the approver asked for anything.
async fn review_plan(approver: &Approver, memory: &Memory, engine: &EngineSender) -> Option<bool> {
    let plan = query(engine, PlanQuery).await?;
    let (given, tried) = memory.notes().approvals.get(approver.name).copied().unwrap_or_default();
    let most = approver.times.saturating_mul(APPROVAL_TRIES);
    let may_approve = given < approver.times && tried < most;
    let mine = |name: &String| name == approver.name;
    let mut limits = plan.steps.iter().filter_map(|step| step.limit.as_ref());
    if !may_approve || !limits.any(|over| !over.approved_by.iter().any(mine)) {
        return Some(false);
    }
    memory.notes().seen_plans.push(remember_plan(approver, &plan));
    sleep(Duration::from_secs(approver.thinks_s)).await;
    let ceilings = if approver.ceilings { vec![plan_total(&plan)] } else { Vec::new() };
    let actor = approver.name.to_owned();
    let approving = ApprovingPlan { checksum: plan.checksum, ceilings, actor };
    let answer = command(engine, EngineCommand::ApprovePlan(approving)).await?;
    let Reply::PlanApproved(answer) = answer else { return None };
    memory.note_approval(approver.name, matches!(*answer, PlanApprovalResult::Approved { .. }));
    Some(true)
}

fn remember_plan(approver: &Approver, plan: &PlanView) -> SeenPlan {
    let amounts = plan.steps.iter().map(|step| {
        let most = step.money.iter().map(|money| money.amount.saturating_abs()).max();
        ((step.kind.clone(), step.name.clone()), most.unwrap_or(0))
    });
    let (actor, checksum) = (approver.name, plan.checksum.clone());
    SeenPlan { actor, checksum, amounts: amounts.collect() }
}

fn plan_total(plan: &PlanView) -> Money {
    let minor = plan.steps.iter().map(|step| -> i64 {
        let later = |meaning: &str| meaning.starts_with(PER_OCCURRENCE);
        let only_later = step.money.iter().all(|money| later(&money.meaning));
        let moved = step.money.iter().filter(|money| only_later || !later(&money.meaning));
        moved.map(|money| money.amount.saturating_abs()).sum()
    });
    Money::new(minor.sum(), Currency::USD)
}

/// Opens the link of every sign-up, and the portal link of every invoice with an attachment. The
/// pages are discarded.
pub(crate) async fn open_links(tree: &DocTree, engine: &EngineSender) {
    let asked = tree.values().filter(|doc| {
        matches!(
            doc.body,
            DocBody::Application { sign_up: true, .. } | DocBody::Invoice { letter: 1.., .. }
        )
    });
    for key in asked.filter_map(|doc| doc.address().parse().ok()) {
        let (page, _nobody) = oneshot::channel();
        drop(engine.send(EngineInput::Visit(key, page)).await);
    }
}

/// Seconds between two looks of a person for live merchants that wait for an approval.
const LOOKS_EVERY_S: u64 = 20;
/// Seconds between two decisions of underwriting, where it decides twice.
const DECIDES_EVERY_S: u64 = 5;

async fn approve_live_merchants(engine: &EngineSender) -> Option<()> {
    for binding in query(engine, ApprovalsQuery).await? {
        let approving = ApproveLive { binding, actor: ACTOR.to_owned() };
        command(engine, EngineCommand::ApproveLive(approving)).await?;
    }
    Some(())
}

/// Delivers the service's webhooks and the approvals of people to the engine, for ever.
pub(crate) async fn deliver_and_approve(
    desk: &SandboxControl,
    post: &PostOffice,
    doors: &WebhookReceivers,
) {
    let mut second = 0_u64;
    loop {
        second = second.wrapping_add(1);
        let rest = post.poll_pause();
        if second.is_multiple_of(LOOKS_EVERY_S) || rest.as_secs() >= LOOKS_EVERY_S {
            // If the engine has ended, its next life gets the approval.
            approve_live_merchants(&doors.engine).await.unwrap_or_default();
        }
        if second.is_multiple_of(DECIDES_EVERY_S) {
            post.decide(desk).await;
        }
        desk.deliver(|letter| post.deliver_webhook(letter, doors)).await;
        post.deliver_late(doors).await;
        sleep(rest).await;
    }
}

/// Runs all people for ever, beside another endless task.
pub(crate) async fn run_people(
    other: impl Future<Output = ()>,
    (people, memory): (&People, &Memory),
    world: (&SandboxControl, &DocTree),
    engine: &EngineSender,
) {
    let approving = people.approvers.iter().map(|approver| async move {
        let look = async || review_plan(approver, memory, engine).await;
        memory.look_at_intervals(approver.name, approver.every_s, look).await;
    });
    let approving = futures::future::join_all(approving);
    tokio::join!(other, run_settler(people.settler, memory, world, engine), approving);
}
