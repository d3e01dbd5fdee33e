//! A sandbox of this process, asked without a socket.

use axum::body::Body;
use futures::FutureExt;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::sandbox::Sandbox;

/// The largest answer that is read.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// One request, with an `Authorization` header or without: its status and its body, null where it is no JSON.
pub(super) async fn ask(
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

/// One request to a control path, whose answer is there at once.
pub(super) fn control(
    sandbox: &Sandbox,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<Value, String> {
    let answered = ask(sandbox, method, path, None, body).now_or_never();
    let (_, answer) = answered.ok_or("the sandbox did not answer at once")??;
    Ok(answer)
}

/// A `payments` token for a code.
pub(super) fn token(sandbox: &Sandbox, code: &str) -> Result<String, String> {
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

/// A text in an answer, empty where there is none.
pub(super) fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}
