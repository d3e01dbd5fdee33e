//! The addresses of the page, which only read. They have the guard of the private listener.

use std::time::Duration;

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use serde::Deserialize;
use tokio::time::Instant;

use crate::control::handle::Control;
use crate::control::protocol::{ControlError, LocalQuery};
use crate::engine::protocol::pages::MoneyOutlook;
use crate::engine::protocol::query::{
    IntentsQuery, MoneyQuery, PlanPartQuery, ResourcesQuery, StatusQuery,
};
use crate::engine::protocol::resources::{ListPart, ResourceFilter};
use crate::http::page::respond::{self, ITEMS_SHOWN, PageResult, ask, ask_local, show};
use crate::http::page::{audit, events, graph, resources};
use crate::render::page::assets::{PAGE_SCRIPT, STYLE_SHEET};
use crate::render::page::frame::PageSection;
use crate::render::page::overview::OverviewParts;
use crate::render::page::{intents, overview, plan, why};
use crate::render::why::WhyView;

/// Resources that need attention on the first page.
const ATTENTION_SHOWN: usize = 10;
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

/// Responds to an asset of another version: the page is loaded again.
async fn old_asset() -> Response {
    (StatusCode::NOT_FOUND, "load the page again").into_response()
}

async fn first(State(control): State<Control>) -> PageResult {
    let part = ListPart { offset: 0, limit: Some(ATTENTION_SHOWN) };
    let filter = ResourceFilter { attention: true, part, ..ResourceFilter::default() };
    let status = ask(&control, StatusQuery).await?;
    let attention = ask(&control, ResourcesQuery(filter)).await?;
    let intents = ask(&control, IntentsQuery).await?;
    let money = counted_money(&control).await?;
    // A filter without a name finds each name that it has.
    let Ok(attention) = attention else { return Ok(Redirect::to("/resources").into_response()) };
    let parts = OverviewParts {
        overview: &status.overview,
        receivers: &status.events.receivers,
        attention: &attention,
        intents: &intents,
        money: &money,
    };
    Ok(show(&control, "Overview", PageSection::Overview, overview::page(&parts)))
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
    State(control): State<Control>,
    asked: Result<Query<Offset>, QueryRejection>,
) -> PageResult {
    let plan = ask(&control, PlanPartQuery(part(asked))).await?;
    Ok(show(&control, "Plan", PageSection::Plan, plan::page(&plan)))
}

async fn open_intents(State(control): State<Control>) -> PageResult {
    let view = ask(&control, IntentsQuery).await?;
    Ok(show(&control, "Intents", PageSection::Intents, intents::page(&view)))
}

#[derive(Deserialize)]
struct Subject {
    #[serde(default)]
    what: String,
}

async fn reasons(
    State(control): State<Control>,
    asked: Result<Query<Subject>, QueryRejection>,
) -> PageResult {
    let what = asked.map(|Query(asked)| asked.what).unwrap_or_default();
    let query = LocalQuery::Why { what: what.clone(), verify: false };
    let view: Option<WhyView> = ask_local(&control, query).await?;
    let title = format!("Why {}", what.chars().take(80).collect::<String>());
    Ok(show(&control, &title, PageSection::Audit, why::page(&what, view.as_ref())))
}
