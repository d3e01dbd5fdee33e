//! State and responses that all paths share: JSON, errors, and the control port they ask.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::stream::unfold;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::{Mutex, Semaphore, watch};

use crate::base::id::Key;
use crate::control::handle::Control;
use crate::control::protocol::{BEAT, ControlError, VERSION, VERSION_HEADER};
use crate::engine::protocol::diagnostics::{Metrics, StatusView};
use crate::engine::protocol::query::Query;
use crate::engine::protocol::unknown_names::UnknownName;

/// Time limit of an engine's answer; the engine is busy with files as a rule, never with calls.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// Streams at once, at most: each has a connection and a task.
pub(super) const WATCHERS_MAX: usize = 32;

#[derive(Debug, Clone)]
pub(crate) struct AppState {
    pub(crate) control: Control,
    pub(super) ready: watch::Receiver<bool>,
    pub(super) status: Arc<SharedAnswer<StatusView>>,
    pub(super) metrics: Arc<SharedAnswer<Metrics>>,
    /// Free places of streams.
    pub(super) watchers: Arc<Semaphore>,
}

impl AppState {
    pub(super) fn new(control: Control, ready: watch::Receiver<bool>) -> Self {
        Self {
            control,
            ready,
            status: Arc::new(SharedAnswer::new()),
            metrics: Arc::new(SharedAnswer::new()),
            watchers: Arc::new(Semaphore::new(WATCHERS_MAX)),
        }
    }
}

/// The answer to one query of the engine, shared by all requests that wait for it: however many
/// monitors ask, the engine works on one query of the kind at a time.
///
/// Guarantee: an answer was begun after its request arrived, so it shows all that happened before.
#[derive(Debug)]
pub(super) struct SharedAnswer<T> {
    /// Number of queries begun.
    begun: AtomicU64,
    /// The number of the last query that was answered, and its answer.
    last: Mutex<Option<(u64, T)>>,
}

impl<T: Clone> SharedAnswer<T> {
    pub(super) fn new() -> Self {
        Self { begun: AtomicU64::new(0), last: Mutex::new(None) }
    }

    /// Returns the answer of `ask`, or of another request's query that begins while this one waits.
    pub(super) async fn answer<F>(&self, ask: impl FnOnce() -> F) -> Result<T, ControlError>
    where
        F: Future<Output = Result<T, ControlError>>,
    {
        let arrived = self.begun.load(Ordering::SeqCst);
        let mut last = self.last.lock().await;
        if let Some((_, answer)) = last.as_ref().filter(|(number, _)| *number > arrived) {
            return Ok(answer.clone());
        }
        let number = self.begun.fetch_add(1, Ordering::SeqCst).saturating_add(1);
        let answer = ask().await?;
        *last = Some((number, answer.clone()));
        Ok(answer)
    }
}

impl AppState {
    /// Responds with the engine's answer to a query.
    pub(super) async fn respond<Q: Query>(
        &self,
        query: Q,
        made: impl FnOnce(Q::Answer) -> Response,
    ) -> Response {
        respond(self.control.ask(query), made).await
    }
}

/// Responds with an answer of the engine, or that it gave none in time.
pub(super) async fn respond<T>(
    asked: impl Future<Output = Result<T, ControlError>>,
    made: impl FnOnce(T) -> Response,
) -> Response {
    match tokio::time::timeout(ANSWER_MAX, asked).await {
        Ok(Ok(answer)) => made(answer),
        Ok(Err(why)) => no_answer(&why),
        Err(_) => too_slow(ANSWER_MAX),
    }
}

/// Responds 200 with a body.
pub(crate) fn ok(body: &impl Serialize) -> Response {
    json(StatusCode::OK, body)
}

/// Responds with text in the form that Prometheus reads.
pub(crate) fn text(body: String) -> Response {
    let form = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (form, body).into_response()
}

/// The body of an answer to a request that fails.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ApiError<'a> {
    error: &'a ControlError,
}

pub(crate) fn error(status: StatusCode, error: &ControlError) -> Response {
    json(status, &ApiError { error })
}

pub(crate) fn refuse(
    status: StatusCode,
    code: &str,
    message: impl Into<String>,
    help: &str,
) -> Response {
    error(status, &ControlError::new(code, message, help))
}

pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Response {
    let mut response = (status, Json(body)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

pub(crate) async fn no_such_path() -> Response {
    let help = "request /api/v1/status, /api/v1/resources, /api/v1/plan or /api/v1/intents";
    refuse(StatusCode::NOT_FOUND, "no_such_path", "no such path", help)
}

pub(crate) fn no_such_resource(key: &Key) -> Response {
    no_such_resources(&[UnknownName { key: key.clone(), nearest: None }])
}

pub(crate) fn no_such_resources(unknown: &[UnknownName]) -> Response {
    let names: Vec<String> = unknown.iter().map(|one| one.key.to_string()).collect();
    let message = format!("no such resource: {}", names.join(" or "));
    let help = "list all resources with /api/v1/resources";
    refuse(StatusCode::NOT_FOUND, "no_such_resource", message, help)
}

/// Responds that a request holds an invalid value.
pub(crate) fn bad_request(message: impl Into<String>, help: &str) -> Response {
    refuse(StatusCode::BAD_REQUEST, ControlError::BAD_REQUEST, message, help)
}

pub(crate) fn bad_body(why: &serde_json::Error, help: &str) -> Response {
    bad_request(format!("invalid body: {why}"), help)
}

pub(crate) fn bad_key(why: &str) -> Response {
    let help = "request /api/v1/resources/KIND/NAMESPACE/NAME; the default namespace is `default`";
    bad_request(why, help)
}

pub(crate) fn wrong_method() -> Response {
    let message = "method not allowed for this path";
    let help = "use GET for paths that read, and POST for paths that write";
    let mut response = refuse(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message, help);
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, POST"));
    response
}

pub(crate) fn no_token() -> Response {
    let message = "missing token";
    let help = "send a token: `authorization: Bearer …`, or `--token-file FILE` of a command; the \
        tokens are in `api.token` of the state directory";
    unauthorised(ControlError::TOKEN_NEEDED, message, help)
}

pub(crate) fn wrong_token() -> Response {
    let message = "unknown token";
    let help = "compare it with `api.token` in the daemon's state directory; the daemon reads \
        that file again when it changes";
    unauthorised(ControlError::WRONG_TOKEN, message, help)
}

pub(crate) fn read_only() -> Response {
    let message = "read-only token: this request changes something, or returns a secret";
    let help = "use a token without `read` in the daemon's `api.token`";
    refuse(StatusCode::FORBIDDEN, ControlError::READ_ONLY, message, help)
}

/// Responds that no token is enough for this request.
pub(crate) fn local_only() -> Response {
    let help = "run the command on the daemon's machine, without --server";
    forbidden("this request is only permitted on the daemon's own machine", help)
}

fn unauthorised(code: &str, message: &str, help: &str) -> Response {
    let mut response = refuse(StatusCode::UNAUTHORIZED, code, message, help);
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

pub(crate) fn forbidden(message: &str, help: &str) -> Response {
    refuse(StatusCode::FORBIDDEN, ControlError::NOT_ALLOWED, message, help)
}

pub(crate) fn too_slow(limit: Duration) -> Response {
    let message = format!("the engine did not answer within {} seconds", limit.as_secs());
    let help = "try again; if it persists, check the daemon's log";
    refuse(StatusCode::SERVICE_UNAVAILABLE, "engine_busy", message, help)
}

/// Responds that the engine gave no answer: it ended, or there is a bug.
pub(crate) fn no_answer(why: &ControlError) -> Response {
    let bug = why.code == ControlError::BUG;
    let status =
        if bug { StatusCode::INTERNAL_SERVER_ERROR } else { StatusCode::SERVICE_UNAVAILABLE };
    error(status, why)
}

/// Header that keeps a proxy of the usual sort from holding keep-alive bytes back.
pub(super) const UNBUFFERED: &str = "x-accel-buffering";

/// The pending answer; `None` once it was sent.
type PendingAnswer<T> = Option<Pin<Box<dyn Future<Output = T> + Send>>>;

/// Responds with an answer once it is made, and with a space every [`BEAT`] before that. A client
/// that disconnects is not waited for; its request is done all the same.
pub(crate) fn respond_when_ready<T>(made: impl Future<Output = T> + Send + 'static) -> Response
where
    T: Serialize + 'static,
{
    let start: PendingAnswer<T> = Some(Box::pin(made));
    let pieces = unfold(start, |making: PendingAnswer<T>| async move {
        let mut making = making?;
        let piece = tokio::select! {
            biased;
            made = &mut making => (Bytes::from(serde_json::to_vec(&made).unwrap_or_default()), None),
            () = tokio::time::sleep(BEAT) => (Bytes::from_static(b" "), Some(making)),
        };
        Some((Ok::<_, Infallible>(piece.0), piece.1))
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    let mut response = (headers, Body::from_stream(pieces)).into_response();
    let headers = response.headers_mut();
    headers.insert(VERSION_HEADER, HeaderValue::from_static(VERSION));
    headers.insert(UNBUFFERED, HeaderValue::from_static("no"));
    response
}
