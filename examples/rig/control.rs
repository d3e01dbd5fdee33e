//! The control paths of a sandbox: a checker may read them, a client never may.

use std::net::SocketAddr;

use http::{Method, Request, header};
use http_body_util::Full;
use hyper::body::Bytes;
use serde_json::Value;

use crate::connection::{Connection, Failed};

/// Sends JSON to a control path, or any other; returns the text of the answer.
///
/// # Errors
///
/// Any status but 2xx.
pub(crate) async fn ask(
    sandbox: SocketAddr,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> Result<String, Failed> {
    let bytes = body.map(Value::to_string).unwrap_or_default();
    let request = Request::builder()
        .method(method.clone())
        .uri(path)
        .header(header::HOST, sandbox.to_string())
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(bytes)))?;
    let answer = Connection::new(sandbox).send(request).await?;
    let text = String::from_utf8_lossy(answer.body()).into_owned();
    if answer.status().is_success() {
        Ok(text)
    } else {
        Err(format!("{method} {path}: {} {text}", answer.status()).into())
    }
}

/// Sends a request and reads the answer as JSON.
pub(crate) async fn json(
    sandbox: SocketAddr,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> Result<Value, Failed> {
    Ok(serde_json::from_str(&ask(sandbox, method, path, body).await?)?)
}
