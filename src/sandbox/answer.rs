//! Answers of the emulated service: status, headers and body, and refusals, which are answers other
//! than success (service-facts, part 2).

use http::{HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;

use crate::api::rules::{FieldProblem, Problem, ProblemMessage, to_problem};
use crate::store::index::ordered::IndexError;

/// The result of a step of a request; its error is the refusal to answer.
pub(crate) type Result<T, E = SandboxRefusal> = std::result::Result<T, E>;

/// An HTTP answer before faults are applied.
#[derive(Debug, Clone)]
pub(crate) struct SandboxAnswer {
    pub(crate) status: StatusCode,
    pub(crate) content_type: &'static str,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Vec<u8>,
}

impl SandboxAnswer {
    pub(crate) fn json<T: Serialize>(value: &T) -> Result<Self> {
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

    pub(crate) fn empty(status: StatusCode) -> Self {
        Self::of(status, "text/plain", Vec::new())
    }

    pub(crate) fn redirect(status: StatusCode, location: &str) -> Self {
        let answer = Self::empty(status);
        match HeaderValue::from_str(location) {
            Ok(location) => answer.with(header::LOCATION, location),
            Err(_) => answer,
        }
    }

    pub(crate) fn from_refusal(refusal: &SandboxRefusal) -> Self {
        let body = serde_json::to_vec(&refusal.problem).unwrap_or_default();
        Self::of(refusal.status, "application/json", body)
    }

    pub(crate) fn of(status: StatusCode, content_type: &'static str, body: Vec<u8>) -> Self {
        Self { status, content_type, headers: Vec::new(), body }
    }

    pub(crate) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}

#[derive(Debug)]
pub(crate) struct SandboxRefusal {
    pub(crate) status: StatusCode,
    pub(crate) problem: Problem,
    /// Keeps the changes made so far: a declined charge leaves its transaction behind.
    pub(crate) keeps_effects: bool,
}

impl SandboxRefusal {
    pub(crate) fn new(status: StatusCode, code: &str, message: &str) -> Self {
        Self::of(status, Problem::new(code, message))
    }

    pub(crate) fn of(status: StatusCode, problem: Problem) -> Self {
        Self { status, problem, keeps_effects: false }
    }

    pub(crate) fn rule(code: &str, message: &str) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, message)
    }

    pub(crate) fn invalid_data(parent: &str, problems: &[FieldProblem]) -> Self {
        Self::of(StatusCode::UNPROCESSABLE_ENTITY, to_problem(parent, problems))
    }

    /// Returns 422 `invalid_data`; `Ok` without problems.
    pub(crate) fn fields(parent: &str, problems: &[FieldProblem]) -> Result<()> {
        Self::ensure(problems.is_empty(), || Self::invalid_data(parent, problems))
    }

    pub(crate) fn ensure(holds: bool, refusal: impl FnOnce() -> Self) -> Result<()> {
        if holds { Ok(()) } else { Err(refusal()) }
    }

    /// Returns a 422 with its own code unless the rule holds.
    pub(crate) fn unless(holds: bool, code: &str, message: &str) -> Result<()> {
        Self::ensure(holds, || Self::rule(code, message))
    }

    pub(crate) fn field(context: &str, sub_code: &str, message: &str) -> Self {
        Self::invalid_data("", &[FieldProblem::new(context, sub_code, message)])
    }

    /// Builds the 404 of a missing object: `Type[id]`.
    pub(crate) fn not_found(kind: &str, id: &str) -> Self {
        let message = ProblemMessage::new("resource_not_found", "Resource not found")
            .with_context(&format!("{kind}[{id}]"));
        Self::of(StatusCode::NOT_FOUND, Problem { messages: vec![message] })
    }

    pub(crate) fn no_path() -> Self {
        Self::new(StatusCode::NOT_FOUND, "resource_not_found", "Resource not found")
    }

    /// Builds a 401, the same for every reason.
    pub(crate) fn not_authorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "not_authorized", "Not authorized")
    }

    pub(crate) fn malformed_body(message: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed_request", message)
    }

    pub(crate) fn too_large() -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "invalid_request", "Body is too large")
    }

    pub(crate) fn invalid(message: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", message)
    }

    /// Builds a 500 without the reason, which goes to the log.
    pub(crate) fn server_error() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "server_error", "Server error")
    }
}

impl From<Result<Self>> for SandboxAnswer {
    fn from(result: Result<Self>) -> Self {
        result.unwrap_or_else(|refusal| Self::from_refusal(&refusal))
    }
}

impl From<IndexError> for SandboxRefusal {
    fn from(error: IndexError) -> Self {
        tracing::error!(%error, "the sandbox's store failed");
        Self::server_error()
    }
}

impl From<serde_json::Error> for SandboxRefusal {
    fn from(error: serde_json::Error) -> Self {
        tracing::error!(category = ?error.classify(), "a stored value of the sandbox cannot be read");
        Self::server_error()
    }
}
