//! Answers as JSON, and the errors that every path shares.

use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::base::id::Key;
use crate::control::ControlError;

/// What was asked for.
pub(super) fn ok(body: &impl Serialize) -> Response {
    json(StatusCode::OK, body)
}

/// Text in the form that Prometheus reads.
pub(super) fn text(body: String) -> Response {
    let form = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (form, body).into_response()
}

/// An error and what to do about it.
pub(super) fn error(status: StatusCode, error: &ControlError) -> Response {
    json(status, &serde_json::json!({ "error": error }))
}

fn json(status: StatusCode, body: &impl Serialize) -> Response {
    let mut response = (status, Json(body)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

pub(super) async fn no_such_path() -> Response {
    let help = "ask /api/v1/status, /api/v1/resources, /api/v1/plan or /api/v1/intents";
    error(StatusCode::NOT_FOUND, &ControlError::new("no_such_path", "there is nothing here", help))
}

pub(super) fn no_such_resource(key: &Key) -> Response {
    let message = format!("no file and no fact speaks of {key}");
    let help = "/api/v1/resources lists what there is";
    error(StatusCode::NOT_FOUND, &ControlError::new("no_such_resource", message, help))
}

pub(super) fn bad_key(why: &str) -> Response {
    let help = "ask /api/v1/resources/KIND/NAMESPACE/NAME; the namespace is `default` as a rule";
    error(StatusCode::BAD_REQUEST, &ControlError::new(ControlError::BAD_REQUEST, why, help))
}

pub(super) fn only_get() -> Response {
    let message = "this listener reads and never writes";
    let refusal = ControlError::new("method_not_allowed", message, "send a GET request");
    let mut response = error(StatusCode::METHOD_NOT_ALLOWED, &refusal);
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET"));
    response
}

pub(super) fn forbidden(message: &str, help: &str) -> Response {
    error(StatusCode::FORBIDDEN, &ControlError::new(ControlError::NOT_ALLOWED, message, help))
}

pub(super) fn too_slow(limit: Duration) -> Response {
    let message = format!("the engine did not answer within {} seconds", limit.as_secs());
    let help = "ask again; if it lasts, look at the daemon's log";
    error(StatusCode::SERVICE_UNAVAILABLE, &ControlError::new("engine_busy", message, help))
}

pub(super) fn mixed_up() -> Response {
    let message = "the engine answered another question";
    let help = "this is a mistake of ours: please report it";
    error(StatusCode::INTERNAL_SERVER_ERROR, &ControlError::new("our_mistake", message, help))
}
