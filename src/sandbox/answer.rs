//! A finished answer: status, body, and, seldom, headers of its own.

use http::{HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;

use crate::sandbox::refusal::Refusal;

/// What goes back, before faults are applied.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) content_type: &'static str,
    /// Headers beside the content type.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// 200 with a JSON body.
    pub(crate) fn json<T: Serialize>(value: &T) -> Result<Self, Refusal> {
        Ok(Self::of(StatusCode::OK, "application/json", serde_json::to_vec(value)?))
    }

    /// 200 with one JSON object a line.
    pub(crate) fn lines(lines: &[serde_json::Value]) -> Self {
        let mut text = String::new();
        for line in lines {
            text.push_str(&line.to_string());
            text.push('\n');
        }
        Self::of(StatusCode::OK, "application/x-ndjson", text.into_bytes())
    }

    /// A redirection with an empty body.
    pub(crate) fn redirect(status: StatusCode, location: &str) -> Self {
        let answer = Self::of(status, "text/plain", Vec::new());
        match HeaderValue::from_str(location) {
            Ok(location) => answer.with(header::LOCATION, location),
            Err(_) => answer,
        }
    }

    /// The answer that a refusal becomes.
    pub(crate) fn refused(refusal: &Refusal) -> Self {
        let body = serde_json::to_vec(&refusal.problem).unwrap_or_default();
        Self::of(refusal.status, "application/json", body)
    }

    pub(crate) fn of(status: StatusCode, content_type: &'static str, body: Vec<u8>) -> Self {
        Self { status, content_type, headers: Vec::new(), body }
    }

    /// The same with one more header.
    pub(crate) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}
