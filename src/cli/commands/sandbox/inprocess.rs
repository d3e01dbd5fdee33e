//! Calls to an embedded sandbox of this process, without a socket.

use axum::body::Body;
use futures::FutureExt;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::sandbox::server::Sandbox;

/// Bytes of an answer that are read, at most.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// Sends one request, with an `Authorization` header or without. Returns the status and the body,
/// null where the body is no JSON.
pub(crate) async fn send(
    sandbox: &Sandbox,
    method: &str,
    path: &str,
    authorization: Option<&str>,
    body: Option<&Value>,
) -> Result<(StatusCode, Value), String> {
    let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
    let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
    if let Some(authorization) = authorization {
        request = request.header("authorization", authorization);
    }
    let request = request.body(body).map_err(|error| error.to_string())?;
    let answer = sandbox.router().oneshot(request).await.map_err(|error| error.to_string())?;
    let status = answer.status();
    let bytes = axum::body::to_bytes(answer.into_body(), ANSWER_BYTES_MAX).await;
    let bytes = bytes.map_err(|error| error.to_string())?;
    Ok((status, serde_json::from_slice(&bytes).unwrap_or_default()))
}

/// Sends one request to a control path, which answers without waiting.
pub(crate) fn control(
    sandbox: &Sandbox,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<Value, String> {
    let answered = send(sandbox, method, path, None, body).now_or_never();
    let (_, answer) = answered.ok_or("the sandbox did not answer at once")??;
    Ok(answer)
}

/// Exchanges a code for a `payments` token.
pub(crate) fn token(sandbox: &Sandbox, code: &str) -> Result<String, String> {
    let all = control(sandbox, "GET", "/_sandbox/credentials", None)?;
    let body = json!({
        "client_id": text(&all, "/partner/client_id"),
        "client_secret": text(&all, "/partner/client_secret"),
        "redirect_uri": text(&all, "/partner/redirect_uri"),
        "grant_type": "authorization_code",
        "scope": "payments",
        "code": code,
    });
    Ok(text(&control(sandbox, "POST", "/oauth/token", Some(&body))?, "/access_token"))
}

/// Returns a text of an answer, empty where there is none.
pub(crate) fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}
