//! Cross-origin access: pages of other origins may make one-time tokens and nothing else
//! (gateway-api, Authentication, 6).

use http::request::Parts;
use http::{HeaderValue, Method, StatusCode, header};

use super::answer::SandboxAnswer;

/// The only path open to other origins.
const PATH: [&str; 2] = ["v1", "tokens"];

fn is_shared(parts: &Parts) -> bool {
    parts.uri.path().split('/').filter(|part| !part.is_empty()).eq(PATH)
}

/// Answers a preflight request; `None` for any other request.
pub(crate) fn preflight(parts: &Parts) -> Option<SandboxAnswer> {
    let asks = parts.method == Method::OPTIONS && is_shared(parts);
    let answer = || {
        SandboxAnswer::of(StatusCode::OK, "text/plain", Vec::new())
            .with(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST"))
            .with(
                header::ACCESS_CONTROL_ALLOW_HEADERS,
                HeaderValue::from_static("authorization, content-type"),
            )
            .with(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"))
    };
    asks.then(answer)
}

/// Adds the header that lets other origins read the answer, where they may.
pub(crate) fn allow_other_origins(parts: &Parts, answer: SandboxAnswer) -> SandboxAnswer {
    if !is_shared(parts) {
        return answer;
    }
    answer.with(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"))
}
