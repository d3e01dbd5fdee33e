//! Writes about the whole: freeze and thaw, a read of the tree, the sync of a manual daemon, and the
//! approval of a plan. Each has a form that says what it does, and is the same control request as its
//! command.

use axum::Extension;
use axum::http::StatusCode;
use axum::response::Response;

use crate::control::requests::{ApprovePlan, FreezeAll, Sync};
use crate::engine::protocol::approvals::{ApprovingPlan, PlanApprovalResult};
use crate::engine::protocol::query::PlanQuery;
use crate::http::page::guard::FormFields;
use crate::http::page::respond::{PageResult, answer_of_write, ask, refusal};
use crate::http::page::visit::{PageVisit, form_status, show, show_with};
use crate::model::holds::{FreezeRequest, FreezeResult, SyncResult};
use crate::model::operator::reason_of;
use crate::render::actions::freeze_result;
use crate::render::approvals::plan_approval_result;
use crate::render::page::forms::{APPROVE, FREEZE, RECONCILE, SYNC, THAW};
use crate::render::page::frame::PageSection;
use crate::render::page::orders::{self, NOTHING_TO_APPROVE, REASON_PROBLEM};

const HOME: &str = "/";
const PLAN: &str = "/plan";

/// The answer to a form that was sent and did nothing.
const CHANGED: &str = "The plan changed since you saw it, so nothing was recorded. This is the new plan: read it again.";

pub(super) async fn ask_freeze(visit: PageVisit) -> PageResult {
    freeze_form(&visit, None)
}

fn freeze_form(visit: &PageVisit, problem: Option<&str>) -> PageResult {
    let inner = orders::freeze(visit.session()?, problem);
    let status = form_status(problem);
    Ok(show_with(visit, status, (FREEZE.1, PageSection::Overview), inner))
}

pub(super) async fn freeze(visit: PageVisit, Extension(sent): Extension<FormFields>) -> PageResult {
    let Some(reason) = reason_of(sent.text("reason")) else {
        return freeze_form(&visit, Some(REASON_PROBLEM));
    };
    let result = visit.write(FreezeAll(FreezeRequest::Freeze { reason })).await?;
    Ok(frozen(&visit, &result))
}

pub(super) async fn ask_thaw(visit: PageVisit) -> PageResult {
    let inner = orders::thaw(visit.session()?);
    Ok(show(&visit, THAW.1, PageSection::Overview, inner))
}

pub(super) async fn thaw(visit: PageVisit) -> PageResult {
    let result = visit.write(FreezeAll(FreezeRequest::Thaw)).await?;
    Ok(frozen(&visit, &result))
}

fn frozen(visit: &PageVisit, result: &FreezeResult) -> Response {
    visit.respond_done(&freeze_result(result), HOME)
}

pub(super) async fn ask_reconcile(visit: PageVisit) -> PageResult {
    let inner = orders::reconcile(visit.session()?);
    Ok(show(&visit, RECONCILE.1, PageSection::Plan, inner))
}

pub(super) async fn reconcile(visit: PageVisit) -> PageResult {
    answer_of_write(visit.control.reconcile()).await?;
    Ok(visit.respond_done(orders::RECONCILING, PLAN))
}

pub(super) async fn ask_sync(visit: PageVisit) -> PageResult {
    sync_form(&visit, None).await
}

async fn sync_form(visit: &PageVisit, problem: Option<&str>) -> PageResult {
    let plan = ask(&visit.control, PlanQuery).await?;
    let inner = orders::sync(visit.session()?, &plan, problem);
    Ok(show_with(visit, form_status(problem), (SYNC.1, PageSection::Plan), inner))
}

pub(super) async fn sync(visit: PageVisit, Extension(sent): Extension<FormFields>) -> PageResult {
    let checksum = sent.text(orders::CHECKSUM).to_owned();
    if checksum.is_empty() {
        return sync_form(&visit, Some(CHANGED)).await;
    }
    match visit.write(Sync(checksum)).await? {
        SyncResult::Synced(_) => Ok(visit.respond_done(orders::SYNCED, PLAN)),
        SyncResult::Changed(_) => sync_form(&visit, Some(CHANGED)).await,
        SyncResult::Automatic => {
            Ok(refusal(StatusCode::CONFLICT, "Nothing to sync", orders::AUTOMATIC))
        }
    }
}

pub(super) async fn ask_approve(visit: PageVisit) -> PageResult {
    approve_form(&visit, None).await
}

async fn approve_form(visit: &PageVisit, problem: Option<&str>) -> PageResult {
    let plan = ask(&visit.control, PlanQuery).await?;
    let inner = orders::approve(visit.session()?, &plan, problem);
    Ok(show_with(visit, form_status(problem), (APPROVE.1, PageSection::Plan), inner))
}

/// Records the approval of the plan that the form showed.
pub(super) async fn approve(
    visit: PageVisit,
    Extension(sent): Extension<FormFields>,
) -> PageResult {
    let checksum = sent.text(orders::CHECKSUM).to_owned();
    // The engine takes the actor from the session.
    let plan = ApprovingPlan { checksum, ceilings: Vec::new(), actor: String::new() };
    let result = visit.write(ApprovePlan(plan)).await?;
    match &result {
        PlanApprovalResult::Approved { .. } => {
            Ok(visit.respond_done(&plan_approval_result(&result), PLAN))
        }
        PlanApprovalResult::Nothing => {
            Ok(refusal(StatusCode::CONFLICT, "Nothing to approve", NOTHING_TO_APPROVE))
        }
        PlanApprovalResult::Changed { .. } | PlanApprovalResult::Beyond { .. } => {
            approve_form(&visit, Some(CHANGED)).await
        }
    }
}
