//! A finished answer: status, body, and optional headers.

use http::{HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;

use super::refusal::SandboxRefusal;

/// An HTTP answer before faults are applied.
#[derive(Debug, Clone)]
pub(crate) struct SandboxAnswer {
    pub(crate) status: StatusCode,
    pub(crate) content_type: &'static str,
    /// Headers besides the content type.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Vec<u8>,
}

impl SandboxAnswer {
    /// Returns a 200 with a JSON body.
    pub(crate) fn json<T: Serialize>(value: &T) -> Result<Self, SandboxRefusal> {
        Ok(Self::of(StatusCode::OK, "application/json", serde_json::to_vec(value)?))
    }

    /// Returns a 200 with one JSON object a line.
    pub(crate) fn lines(lines: &[serde_json::Value]) -> Self {
        let mut text = String::new();
        for line in lines {
            text.push_str(&line.to_string());
            text.push('\n');
        }
        Self::of(StatusCode::OK, "application/x-ndjson", text.into_bytes())
    }

    /// Returns a redirection with an empty body.
    pub(crate) fn redirect(status: StatusCode, location: &str) -> Self {
        let answer = Self::of(status, "text/plain", Vec::new());
        match HeaderValue::from_str(location) {
            Ok(location) => answer.with(header::LOCATION, location),
            Err(_) => answer,
        }
    }

    /// Returns the HTTP answer of a refusal.
    pub(crate) fn from_refusal(refusal: &SandboxRefusal) -> Self {
        let body = serde_json::to_vec(&refusal.problem).unwrap_or_default();
        Self::of(refusal.status, "application/json", body)
    }

    pub(crate) fn of(status: StatusCode, content_type: &'static str, body: Vec<u8>) -> Self {
        Self { status, content_type, headers: Vec::new(), body }
    }

    /// Returns the answer with one more header.
    pub(crate) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}
