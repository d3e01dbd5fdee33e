//! Reads the complete body of a request, in bounded size and time, however slowly it arrives.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Time limit of a body, from its first byte to its last.
pub(crate) const BODY_MAX: Duration = Duration::from_secs(10);
/// Bytes of a public request's body, at most.
pub(crate) const BODY_BYTES_MAX: usize = 256 * 1024;

/// Reason for which a body was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyError {
    /// The body is too large.
    Large,
    /// The body did not arrive in time, or broke off.
    Slow,
}

/// Reads the complete body.
pub(crate) async fn read_complete(body: Body) -> Result<Bytes, BodyError> {
    let most = u64::try_from(BODY_BYTES_MAX).unwrap_or(u64::MAX);
    if body.size_hint().lower() > most {
        return Err(BodyError::Large);
    }
    match tokio::time::timeout(BODY_MAX, to_bytes(body, BODY_BYTES_MAX)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => {
            let large = error.into_inner().is::<http_body_util::LengthLimitError>();
            Err(if large { BodyError::Large } else { BodyError::Slow })
        }
        Err(_) => Err(BodyError::Slow),
    }
}

/// Reads the body first, and then passes the request on with it.
pub(crate) async fn buffer_first(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    match read_complete(body).await {
        Ok(bytes) => next.run(Request::from_parts(parts, Body::from(bytes))).await,
        Err(BodyError::Large) => StatusCode::PAYLOAD_TOO_LARGE.into_response(),
        Err(BodyError::Slow) => too_slow(),
    }
}

/// Responds to a body that does not arrive. The connection ends, since the next bytes are the rest
/// of the body.
pub(crate) fn too_slow() -> Response {
    let close = [(header::CONNECTION, HeaderValue::from_static("close"))];
    (StatusCode::REQUEST_TIMEOUT, close).into_response()
}
