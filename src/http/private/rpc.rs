//! Control requests over HTTP: the same as over the socket, sent by commands with `--server`.

use std::convert::Infallible;
use std::pin::Pin;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::stream::unfold;
use serde::Serialize;

use crate::control::protocol::{BEAT, ControlError, ControlRequest, VERSION, VERSION_HEADER};
use crate::http::private::answer;
use crate::http::private::answer::AppState;
use crate::http::private::auth::ApiCaller;

/// Header that keeps a proxy of the usual sort from holding keep-alive bytes back.
const UNBUFFERED: &str = "x-accel-buffering";

/// Answers one control request, in the name of its token.
pub(crate) async fn handle_rpc(
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

/// Returns the refusal of a client of another version.
fn other_version(headers: &HeaderMap) -> Option<Response> {
    let theirs = headers.get(VERSION_HEADER).and_then(|version| version.to_str().ok());
    let theirs = theirs.unwrap_or("unknown");
    if theirs == VERSION {
        return None;
    }
    let message = format!(
        "version mismatch: the daemon is reckon {VERSION}, the client is reckon \
        {theirs}"
    );
    let help = "run the same version on both sides";
    Some(answer::refuse(StatusCode::CONFLICT, ControlError::OTHER_VERSION, message, help))
}

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
