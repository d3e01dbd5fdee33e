//! All people of a world while the machine lives. Approvers read a plan, remember it, think, and
//! approve exactly that plan. Others approve live merchants, open links, and receive the service's
//! webhooks.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use super::memory::{ACTOR, Memory, ask, query};
use super::settler::run_settler;
use crate::base::money::{Currency, Money};
use crate::engine::protocol::commands::approve::ApproveLive;
use crate::engine::protocol::commands::command::EngineCommand;
use crate::engine::protocol::commands::plan_approval::{ApprovingPlan, PlanApprovalResult};
use crate::engine::protocol::input::EngineInput;
use crate::engine::protocol::queries::views::{PlanView, StepView};
use crate::engine::protocol::query::{EngineQuery, Reply};
use crate::model::intents::exposure::PER_OCCURRENCE;
use crate::sim::plan::documents::{DocBody, DocTree};
use crate::sim::plan::people::{Approver, People, SeenPlan};
use crate::sim::service::post_office::{PostOffice, WebhookReceivers};
use crate::sim::service::sandbox::SandboxControl;

/// Attempts of one approver per plan that the approver may approve.
const TRIES: u32 = 3;

/// Runs an approver for ever.
pub(crate) async fn run_approver(
    approver: &Approver,
    memory: &Memory,
    engine: &mpsc::Sender<EngineInput>,
) {
    let look = async || review_plan(approver, memory, engine).await;
    memory.look_at_intervals(approver.name, approver.every_s, look).await;
}

/// Reads the plan once, and approves it if a limit blocks a new step. Returns `None` if the engine
/// did not answer, else whether the approver asked for anything.
async fn review_plan(
    approver: &Approver,
    memory: &Memory,
    engine: &mpsc::Sender<EngineInput>,
) -> Option<bool> {
    let Reply::Plan(plan) = query(engine, EngineQuery::Plan).await? else { return None };
    let most = (approver.times, approver.times.saturating_mul(TRIES));
    if !plan.steps.iter().any(|step| is_new_to(approver, step))
        || !memory.may_approve(approver.name, most)
    {
        return Some(false);
    }
    memory.note_plan(remember_plan(approver, &plan));
    sleep(Duration::from_secs(approver.thinks_s)).await;
    let ceilings = if approver.ceilings { vec![plan_total(&plan)] } else { Vec::new() };
    let actor = approver.name.to_owned();
    let approving = ApprovingPlan { checksum: plan.checksum, ceilings, actor };
    let answer =
        ask(engine, |reply| EngineInput::Command(EngineCommand::ApprovePlan(approving), reply))
            .await?;
    let Reply::PlanApproved(answer) = answer else { return None };
    memory.note_approval(approver.name, matches!(*answer, PlanApprovalResult::Approved { .. }));
    Some(true)
}

/// Returns true if a limit blocks a step that this approver has not yet approved.
fn is_new_to(approver: &Approver, step: &StepView) -> bool {
    let mine = |name: &String| name == approver.name;
    step.limit.as_ref().is_some_and(|over| !over.approved_by.iter().any(mine))
}

/// Returns the part of a plan that an approver remembers.
fn remember_plan(approver: &Approver, plan: &PlanView) -> SeenPlan {
    let mut amounts = BTreeMap::new();
    for step in &plan.steps {
        let most = step.money.iter().map(|money| money.amount.saturating_abs()).max();
        let most = most.unwrap_or(0);
        amounts.insert((step.kind.clone(), step.name.clone()), most);
    }
    SeenPlan { actor: approver.name, checksum: plan.checksum.clone(), amounts }
}

/// Returns the money that a plan moves now, in all.
fn plan_total(plan: &PlanView) -> Money {
    let minor = plan.steps.iter().map(|step| {
        let now: Vec<i64> = step
            .money
            .iter()
            .filter(|money| !money.meaning.starts_with(PER_OCCURRENCE))
            .map(|money| money.amount.saturating_abs())
            .collect();
        let later = step.money.iter().map(|money| money.amount.saturating_abs());
        if now.is_empty() { later.sum::<i64>() } else { now.into_iter().sum() }
    });
    Money::new(minor.sum(), Currency::USD)
}

/// Opens the link of every sign-up, and the portal link of every invoice with an attachment. The
/// pages are discarded.
pub(crate) async fn open_links(tree: &DocTree, engine: &mpsc::Sender<EngineInput>) {
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

/// Approves every live merchant that waits for an approval.
async fn approve_live_merchants(engine: &mpsc::Sender<EngineInput>) -> Option<()> {
    let Reply::Approvals(waiting) = query(engine, EngineQuery::Approvals).await? else {
        return None;
    };
    for binding in waiting {
        let approving = ApproveLive { binding, actor: ACTOR.to_owned() };
        ask(engine, |reply| EngineInput::Command(EngineCommand::ApproveLive(approving), reply))
            .await?;
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
    engine: &mpsc::Sender<EngineInput>,
) {
    let approving = people.approvers.iter().map(|one| run_approver(one, memory, engine));
    let approving = futures::future::join_all(approving);
    tokio::join!(other, run_settler(people.settler, memory, world, engine), approving);
}
