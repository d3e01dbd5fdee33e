//! The addresses of the page. Those that read have the guard of the private listener; those that
//! write have guards of their own.

use std::time::Duration;

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use axum::{Router, middleware};
use serde::Deserialize;
use tokio::time::Instant;

use crate::control::handle::Control;
use crate::control::page_sessions::ENTER_PATH;
use crate::control::protocol::{ControlError, LocalQuery};
use crate::engine::protocol::pages::MoneyOutlook;
use crate::engine::protocol::query::{IntentsQuery, MoneyQuery, PlanPartQuery, StatusQuery};
use crate::engine::protocol::resources::ListPart;
use crate::http::page::respond::{self, ITEMS_SHOWN, PageResult, ask, ask_local};
use crate::http::page::visit::{PageVisit, show};
use crate::http::page::{audit, entry, events, graph, guard, orders, resource_orders, resources};
use crate::render::page::assets::{PAGE_SCRIPT, STYLE_SHEET};
use crate::render::page::forms::{
    APPROVE, CONFIRM, FREEZE, RECONCILE, RESUME, SETTLE, SUSPEND, SYNC, THAW,
};
use crate::render::page::frame::PageSection;
use crate::render::page::overview::OverviewParts;

use crate::render::page::{intents, overview, plan, why};
use crate::render::why::WhyView;

/// Time for which the first page waits until all money is counted.
const COUNTING_MAX: Duration = Duration::from_millis(100);

pub(crate) fn routes<S: Clone + Send + Sync + 'static>(control: Control) -> Router<S> {
    Router::new()
        .route("/", get(first))
        .route("/resources", get(resources::list))
        .route("/resources/{kind}/{namespace}/{name}", get(resources::one))
        .route("/graph", get(graph::show_graph))
        .route("/plan", get(pending_plan))
        .route("/intents", get(open_intents))
        .route("/events", get(events::list))
        .route("/events/{id}", get(events::one))
        .route("/audit", get(audit::trail))
        .route("/why", get(reasons))
        .route(&STYLE_SHEET.path, get(async || respond::asset(&STYLE_SHEET)))
        .route(&PAGE_SCRIPT.path, get(async || respond::asset(&PAGE_SCRIPT)))
        .route("/page/{old}", get(old_asset))
        .with_state(control)
}

/// Returns the addresses that write. The private listener adds them beside its guard, not behind it.
pub(crate) fn writing_routes<S: Clone + Send + Sync + 'static>(control: Control) -> Router<S> {
    let session = middleware::from_fn_with_state(control.clone(), guard::session_only);
    let (suspend, resume) = (order_route(SUSPEND.0), order_route(RESUME.0));
    let (settle, confirm) = (format!("{}/{{id}}", SETTLE.0), order_route(CONFIRM.0));
    let writes = Router::new()
        .route("/leave", get(async || Redirect::to("/")).post(entry::leave))
        .route(FREEZE.0, get(orders::ask_freeze).post(orders::freeze))
        .route(THAW.0, get(orders::ask_thaw).post(orders::thaw))
        .route(RECONCILE.0, get(orders::ask_reconcile).post(orders::reconcile))
        .route(SYNC.0, get(orders::ask_sync).post(orders::sync))
        .route(APPROVE.0, get(orders::ask_approve).post(orders::approve))
        .route(&suspend, get(resource_orders::ask_suspend).post(resource_orders::suspend))
        .route(&resume, get(resource_orders::ask_resume).post(resource_orders::resume))
        .route(&settle, get(resource_orders::ask_settle).post(resource_orders::settle))
        .route(&confirm, get(resource_orders::ask_confirm).post(resource_orders::confirm))
        .layer(session);
    let entrance = Router::new()
        .route(ENTER_PATH, get(entry::without_link).post(entry::enter))
        .route(&format!("{ENTER_PATH}/{{token}}"), get(entry::ask));
    writes.merge(entrance).layer(middleware::from_fn(guard::local_only)).with_state(control)
}

/// Returns the pattern of the address of a form about a resource.
fn order_route(path: &str) -> String {
    format!("{path}/{{kind}}/{{namespace}}/{{name}}")
}

/// Responds to an asset of another version: the page is loaded again.
async fn old_asset() -> Response {
    (StatusCode::NOT_FOUND, "load the page again").into_response()
}

async fn first(visit: PageVisit) -> PageResult {
    let status = ask(&visit.control, StatusQuery).await?;
    let intents = ask(&visit.control, IntentsQuery).await?;
    let money = counted_money(&visit.control).await?;
    let parts = OverviewParts {
        overview: &status.overview,
        receivers: &status.events.receivers,
        not_ready: &status.not_ready,
        intents: &intents,
        money: &money,
    };
    Ok(show(
        &visit,
        "Overview",
        PageSection::Overview,
        overview::page(&parts, visit.is_in_session()),
    ))
}

/// Returns the sums of money; while they are not complete, asks for some time: each question counts
/// some more resources, and leaves the engine free for others in between.
async fn counted_money(control: &Control) -> Result<MoneyOutlook, ControlError> {
    let end = Instant::now().checked_add(COUNTING_MAX);
    loop {
        let outlook = ask(control, MoneyQuery).await?;
        if outlook.counted >= outlook.resources || end.is_none_or(|end| Instant::now() >= end) {
            return Ok(outlook);
        }
    }
}

#[derive(Deserialize)]
struct Offset {
    #[serde(default)]
    offset: usize,
}

/// Returns a part of a list; an invalid place is the beginning.
fn part(asked: Result<Query<Offset>, QueryRejection>) -> ListPart {
    let offset = asked.map_or(0, |Query(asked)| asked.offset);
    ListPart { offset, limit: Some(ITEMS_SHOWN) }
}

async fn pending_plan(
    visit: PageVisit,
    asked: Result<Query<Offset>, QueryRejection>,
) -> PageResult {
    let plan = ask(&visit.control, PlanPartQuery(part(asked))).await?;
    let overview = visit.control.feed().map(|feed| feed.overviews.borrow().clone());
    let sync = overview.and_then(|overview| overview.sync);
    let awaits = sync.is_some_and(|sync| sync.awaits);
    let inner = plan::page(&plan, awaits, visit.is_in_session());
    Ok(show(&visit, "Plan", PageSection::Plan, inner))
}

async fn open_intents(visit: PageVisit) -> PageResult {
    let view = ask(&visit.control, IntentsQuery).await?;
    Ok(show(&visit, "Intents", PageSection::Intents, intents::page(&view, visit.is_in_session())))
}

#[derive(Deserialize)]
struct Subject {
    #[serde(default)]
    what: String,
}

async fn reasons(visit: PageVisit, asked: Result<Query<Subject>, QueryRejection>) -> PageResult {
    let what = asked.map(|Query(asked)| asked.what).unwrap_or_default();
    let query = LocalQuery::Why { what: what.clone(), verify: false };
    let view: Option<WhyView> = ask_local(&visit.control, query).await?;
    let title = format!("Why {}", what.chars().take(80).collect::<String>());
    Ok(show(&visit, &title, PageSection::Audit, why::page(&what, view.as_ref())))
}
