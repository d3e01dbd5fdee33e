//! A finished answer: status, body and, seldom, a place to go.

use http::StatusCode;
use serde::Serialize;

use crate::sandbox::refusal::Refusal;

/// What goes back, before faults are applied.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) content_type: &'static str,
    pub(crate) location: Option<String>,
    pub(crate) retry_after: Option<u64>,
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
    pub(crate) fn redirect(status: StatusCode, location: String) -> Self {
        let answer = Self::of(status, "text/plain", Vec::new());
        Self { location: Some(location), ..answer }
    }

    /// The answer that a refusal becomes.
    pub(crate) fn refused(refusal: &Refusal) -> Self {
        let body = serde_json::to_vec(&refusal.problem).unwrap_or_default();
        Self::of(refusal.status, "application/json", body)
    }

    pub(crate) fn of(status: StatusCode, content_type: &'static str, body: Vec<u8>) -> Self {
        Self { status, content_type, location: None, retry_after: None, body }
    }
}
