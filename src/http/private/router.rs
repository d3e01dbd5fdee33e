//! The daemon's HTTP API.
//!
//! The private listener answers views for programs and people on this machine. With a token it
//! answers, from anywhere, everything that commands do ([`crate::control::wire::limits`]) and a few writes
//! for programs. Every answer is JSON, an error too: `{"error": {code, message, help}}`.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use axum::extract::rejection::PathRejection;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Router, middleware};
use serde::Serialize;
use tokio::sync::watch;
use tower_http::limit::RequestBodyLimitLayer;

use super::answer::{error, ok};
use super::tokens::Tokens;
use super::{answer, guard, rpc, writes};
use crate::base::id::Key;
use crate::control::protocol::{Control, ControlError};
use crate::control::wire::limits::{CONTROL_PATH, REQUEST_BYTES_MAX};
use crate::engine::queries::events::{EventsView, EventsWanted};
use crate::engine::queries::hooks::HooksView;
use crate::engine::queries::protocol::{EngineQuery, Reply};
use crate::engine::queries::views::Overview;
use crate::render;

/// Time limit of an engine's answer; the engine is busy with files as a rule, never with calls.
const ANSWER_MAX: Duration = Duration::from_secs(30);
/// Bytes of a request's body, at most, except for the requests of commands.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// Events in an answer by default, and at most.
const EVENTS_SHOWN: usize = 50;
const EVENTS_SHOWN_MAX: usize = 1000;

/// State of every request.
#[derive(Debug, Clone)]
pub(crate) struct AppState {
    pub(crate) control: Control,
    ready: watch::Receiver<bool>,
}

/// Returns the private listener's routes. A request must carry its peer's address as
/// [`axum::extract::ConnectInfo`], or it is refused.
pub fn router(control: Control, ready: watch::Receiver<bool>, tokens: Tokens) -> Router {
    let commands = Router::new()
        .route(CONTROL_PATH, post(rpc::handle_rpc))
        .layer(DefaultBodyLimit::disable())
        .layer(RequestBodyLimitLayer::new(REQUEST_BYTES_MAX));
    Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .route("/api/v1/status", get(status))
        .route("/api/v1/resources", get(resources))
        .route("/api/v1/resources/{kind}/{namespace}/{name}", get(resource))
        .route("/api/v1/plan", get(plan))
        .route("/api/v1/intents", get(intents))
        .route("/api/v1/events", get(events))
        .merge(writes::routes())
        .layer(RequestBodyLimitLayer::new(BODY_BYTES_MAX))
        .merge(commands)
        .fallback(answer::no_such_path)
        .method_not_allowed_fallback(async || answer::wrong_method())
        .layer(middleware::from_fn_with_state(tokens, guard::guard))
        .with_state(AppState { control, ready })
}

/// Answers while the process lives.
pub(crate) async fn healthz() -> Response {
    ok(&serde_json::json!({ "alive": true }))
}

/// Answers whether the daemon does its work.
async fn readyz(State(door): State<AppState>) -> Response {
    if *door.ready.borrow() {
        return ok(&serde_json::json!({ "ready": true }));
    }
    let why = "the daemon is starting: it settles open intents and reads the specs";
    let help = "try again in a moment; the daemon's log shows its progress";
    error(StatusCode::SERVICE_UNAVAILABLE, &ControlError::new("not_ready", why, help))
}

/// Overall status, with the version. The parts of hooks and events are absent where they are
/// unknown.
#[derive(Serialize)]
struct StatusBody {
    version: &'static str,
    hooks: Option<HooksView>,
    events: Option<EventsView>,
    /// Webhooks that were answered since the process began, by answer.
    posts: BTreeMap<String, u64>,
    #[serde(flatten)]
    overview: Overview,
}

async fn status(State(door): State<AppState>) -> Response {
    let version = env!("CARGO_PKG_VERSION");
    let hooks = match door.control.ask(EngineQuery::Hooks).await {
        Ok(Reply::Hooks(hooks)) => Some(*hooks),
        Ok(_) | Err(_) => None,
    };
    let wanted = EventsWanted { merchant: None, most: 0 };
    let events = match door.control.ask(EngineQuery::Events(wanted)).await {
        Ok(Reply::Events(events)) => Some(*events),
        Ok(_) | Err(_) => None,
    };
    let made = |reply| {
        let Reply::Overview(overview) = reply else { return None };
        let posts = door.control.posts().counts();
        Some(ok(&StatusBody { version, hooks, events, posts, overview }))
    };
    door.respond(EngineQuery::Overview, made).await
}

/// Answers metrics in the Prometheus text format.
async fn metrics(State(door): State<AppState>) -> Response {
    let made = |reply| {
        let Reply::Metrics(mut metrics) = reply else { return None };
        metrics.posts = door.control.posts().counts();
        Some(answer::text(render::metrics(&metrics)))
    };
    door.respond(EngineQuery::Metrics, made).await
}

async fn resources(State(door): State<AppState>) -> Response {
    let made = |reply| {
        let Reply::Resources(items) = reply else { return None };
        Some(ok(&serde_json::json!({ "items": items })))
    };
    door.respond(EngineQuery::Resources, made).await
}

/// The three parts of a resource's path.
type ResourcePathParts = (String, String, String);

async fn resource(
    State(door): State<AppState>,
    path: Result<Path<ResourcePathParts>, PathRejection>,
) -> Response {
    let Ok(Path((kind, namespace, name))) = path else {
        return answer::bad_key("the path is not valid UTF-8");
    };
    let key = match format!("{kind}/{namespace}/{name}").parse::<Key>() {
        Ok(key) => key,
        Err(why) => return answer::bad_key(&why.to_string()),
    };
    let made = |reply| {
        let Reply::Resource(view) = reply else { return None };
        Some(view.map_or_else(|| answer::no_such_resource(&key), |view| ok(&view)))
    };
    door.respond(EngineQuery::Resource(key.clone()), made).await
}

async fn plan(State(door): State<AppState>) -> Response {
    let made = |reply| {
        let Reply::Plan(plan) = reply else { return None };
        Some(ok(&plan))
    };
    door.respond(EngineQuery::Plan, made).await
}

async fn intents(State(door): State<AppState>) -> Response {
    let made = |reply| {
        let Reply::Intents(intents) = reply else { return None };
        Some(ok(&intents))
    };
    door.respond(EngineQuery::Intents, made).await
}

/// Query of `/api/v1/events`: the number of events, and their merchant.
#[derive(serde::Deserialize)]
struct EventsQuery {
    limit: Option<usize>,
    merchant: Option<String>,
}

/// Answers the gateway's events, newest first, and the status of their receiver.
async fn events(State(door): State<AppState>, Query(asked): Query<EventsQuery>) -> Response {
    let merchant = asked.merchant.map(|name| format!("Merchant/{name}").parse::<Key>()).transpose();
    let merchant = match merchant {
        Ok(merchant) => merchant,
        Err(why) => return answer::bad_key(&why.to_string()),
    };
    let most = asked.limit.unwrap_or(EVENTS_SHOWN).min(EVENTS_SHOWN_MAX);
    let made = |reply| {
        let Reply::Events(events) = reply else { return None };
        Some(ok(&events))
    };
    door.respond(EngineQuery::Events(EventsWanted { merchant, most }), made).await
}

impl AppState {
    /// Sends a query and answers with the response made of its reply; `made` returns `None` for
    /// another query's reply.
    async fn respond(
        &self,
        question: EngineQuery,
        made: impl FnOnce(Reply) -> Option<Response>,
    ) -> Response {
        match tokio::time::timeout(ANSWER_MAX, self.control.ask(question)).await {
            Ok(Ok(reply)) => made(reply).unwrap_or_else(answer::wrong_reply),
            Ok(Err(why)) => error(StatusCode::SERVICE_UNAVAILABLE, &why),
            Err(_) => answer::too_slow(ANSWER_MAX),
        }
    }
}
