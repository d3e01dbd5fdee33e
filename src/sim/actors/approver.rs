//! People who approve plans: they read a plan, remember it, think, and approve exactly that plan.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use super::people_tasks::{Memory, query};
use crate::base::money::{Currency, Money};
use crate::engine::commands::plan_approval::{ApprovingPlan, PlanApprovalResult};
use crate::engine::core::input::EngineInput;
use crate::engine::queries::protocol::{EngineQuery, Reply};
use crate::engine::queries::views::{PlanView, StepView};
use crate::model::plans::exposure::PER_OCCURRENCE;
use crate::sim::world::limits::Approver;

/// Attempts of one approver per plan that the approver may approve.
const TRIES: u32 = 3;

/// A plan that an approver has seen and is about to approve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SeenPlan {
    pub(crate) actor: &'static str,
    pub(crate) checksum: String,
    /// Highest amount of each document, by kind and name, in minor units.
    pub(crate) amounts: BTreeMap<(String, String), i64>,
}

/// Runs an approver for ever.
pub(crate) async fn run_approver(
    approver: &Approver,
    memory: &Memory,
    engine: &mpsc::Sender<EngineInput>,
) {
    loop {
        sleep(Duration::from_secs(approver.every_s)).await;
        if let Some(spoke) = review_plan(approver, memory, engine).await {
            memory.note_look(approver.name, spoke);
        }
    }
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
    let (reply, answer) = oneshot::channel();
    engine.send(EngineInput::ApprovePlan(approving, reply)).await.ok()?;
    let Reply::PlanApproved(answer) = answer.await.ok()? else { return None };
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
