//! The daemon's HTTP API.
//!
//! The private listener answers views for programs and people on this machine. With a token it
//! answers, from anywhere, everything that commands do ([`crate::control::protocol`]) and a few writes
//! for programs. Every answer is JSON, an error too: `{"error": {code, message, help}}`.

#[cfg(test)]
mod tests;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router, middleware};
use tokio::sync::watch::Receiver;
use tower_http::limit::RequestBodyLimitLayer;

use crate::control::handle::Control;
use crate::control::protocol::{
    CONTROL_PATH, ControlError, ControlRequest, REQUEST_BYTES_MAX, VERSION, VERSION_HEADER,
};
use crate::engine::protocol::diagnostics::{Metrics, StatusView};
use crate::engine::protocol::query::{IntentsQuery, MetricsQuery, PlanQuery, StatusQuery};
use crate::http::page;
use crate::http::private::answer::{AppState, ok, refuse, respond, respond_when_ready};
use crate::http::private::auth::{ApiCaller, Tokens};
use crate::http::private::status_body::StatusBody;
use crate::http::private::{answer, auth, events, resources, watch, writes};
use crate::render;

/// Bytes of a request's body, at most, except for the requests of commands.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// Returns the private listener's routes. A request must carry its peer's address as
/// [`axum::extract::ConnectInfo`], or it is refused.
pub fn router(control: Control, ready: Receiver<bool>, tokens: Tokens) -> Router {
    let commands = Router::new()
        .route(CONTROL_PATH, post(handle_rpc))
        .layer(DefaultBodyLimit::disable())
        .layer(RequestBodyLimitLayer::new(REQUEST_BYTES_MAX));
    Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .route("/api/v1/status", get(status))
        .route("/api/v1/resources", get(resources::list))
        .route("/api/v1/resources/{kind}/{namespace}/{name}", get(resources::one))
        .route("/api/v1/plan", get(plan))
        .route("/api/v1/intents", get(intents))
        .route("/api/v1/events", get(events::list))
        .route("/api/v1/watch", get(watch::watch))
        .merge(writes::routes())
        .merge(page::routes::routes(control.clone()))
        .layer(RequestBodyLimitLayer::new(BODY_BYTES_MAX))
        .merge(commands)
        .fallback(answer::no_such_path)
        .method_not_allowed_fallback(async || answer::wrong_method())
        .layer(middleware::from_fn_with_state(tokens, auth::guard))
        .merge(page::routes::writing_routes(control.clone()))
        .with_state(AppState::new(control, ready))
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
    refuse(StatusCode::SERVICE_UNAVAILABLE, "not_ready", why, help)
}

async fn status(State(door): State<AppState>) -> Response {
    let made = |status: StatusView| {
        let posts = door.control.posts().counts();
        let configuration = door.control.configuration();
        ok(&StatusBody::new(status, Some(posts), configuration))
    };
    respond(door.status.answer(|| door.control.ask(StatusQuery)), made).await
}

async fn metrics(State(door): State<AppState>) -> Response {
    let made = |mut metrics: Metrics| {
        metrics.posts = door.control.posts().counts();
        let configuration = door.control.configuration();
        metrics.configuration_refused = configuration.is_some_and(|one| one.refused.is_some());
        answer::text(render::metrics::metrics(&metrics))
    };
    respond(door.metrics.answer(|| door.control.ask(MetricsQuery)), made).await
}

async fn plan(State(door): State<AppState>) -> Response {
    door.respond(PlanQuery, |plan| ok(&plan)).await
}

async fn intents(State(door): State<AppState>) -> Response {
    door.respond(IntentsQuery, |intents| ok(&intents)).await
}

/// Answers one control request in the name of its token: the same as over the socket.
async fn handle_rpc(
    State(door): State<AppState>,
    caller: Option<Extension<ApiCaller>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Some(Extension(ApiCaller { actor, may_write })) = caller else { return answer::no_token() };
    if let Some(refusal) = other_version(&headers) {
        return refusal;
    }
    let request = match serde_json::from_slice::<ControlRequest>(&body) {
        Ok(request) => request,
        Err(error) => return answer::bad_body(&error, "send one control request as JSON"),
    };
    if !may_write && !request.is_read_only() {
        return answer::read_only();
    }
    if request.is_local() {
        return answer::local_only();
    }
    tracing::debug!(actor, ?request, "control");
    respond_when_ready(async move { door.control.send(request, actor).await })
}

fn other_version(headers: &HeaderMap) -> Option<Response> {
    let theirs = headers.get(VERSION_HEADER).and_then(|version| version.to_str().ok());
    let theirs = theirs.unwrap_or("unknown");
    if theirs == VERSION {
        return None;
    }
    let message =
        format!("version mismatch: the daemon is reckon {VERSION}, the client is reckon {theirs}");
    let help = "run the same version on both sides";
    Some(refuse(StatusCode::CONFLICT, ControlError::OTHER_VERSION, message, help))
}
