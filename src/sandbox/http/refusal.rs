//! Refusals: answers other than success (service-facts, part 2).

use http::StatusCode;

use crate::api::rules::{FieldProblem, to_problem};
use crate::api::{Problem, ProblemMessage};
use crate::store::index::ordered::IndexError;

/// The refusal of a request.
#[derive(Debug)]
pub(crate) struct SandboxRefusal {
    pub(crate) status: StatusCode,
    pub(crate) problem: Problem,
    /// Keeps the changes made so far: a declined charge leaves its transaction behind.
    pub(crate) keeps_effects: bool,
}

impl SandboxRefusal {
    /// Builds a refusal with one code and text.
    pub(crate) fn new(status: StatusCode, code: &str, message: &str) -> Self {
        Self { status, problem: Problem::new(code, message), keeps_effects: false }
    }

    /// Builds a 422 with its own code.
    pub(crate) fn rule(code: &str, message: &str) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, message)
    }

    /// Returns 422 `invalid_data` with one message a field; `Ok` without problems.
    pub(crate) fn fields(parent: &str, problems: &[FieldProblem]) -> Result<(), Self> {
        if problems.is_empty() {
            return Ok(());
        }
        Err(Self {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            problem: to_problem(parent, problems),
            keeps_effects: false,
        })
    }

    /// Builds a 422 `invalid_data` about one field.
    pub(crate) fn field(context: &str, sub_code: &str, message: &str) -> Self {
        let message = ProblemMessage::new("invalid_data", message)
            .with_context(context)
            .with_sub_code(sub_code);
        Self {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            problem: Problem { messages: vec![message] },
            keeps_effects: false,
        }
    }

    /// Builds the 404 of a missing object: `Type[id]`.
    pub(crate) fn not_found(kind: &str, id: &str) -> Self {
        let message = ProblemMessage::new("resource_not_found", "Resource not found");
        Self {
            status: StatusCode::NOT_FOUND,
            problem: Problem { messages: vec![message.with_context(&format!("{kind}[{id}]"))] },
            keeps_effects: false,
        }
    }

    /// Builds the 404 of an unknown path.
    pub(crate) fn no_path() -> Self {
        Self::new(StatusCode::NOT_FOUND, "resource_not_found", "Resource not found")
    }

    /// Builds a 401, the same for every reason.
    pub(crate) fn not_authorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "not_authorized", "Not authorized")
    }

    /// Builds the 400 of an unreadable body.
    pub(crate) fn malformed_body(message: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed_request", message)
    }

    /// Builds the 413 of a body above the size limit.
    pub(crate) fn too_large() -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "invalid_request", "Body is too large")
    }

    /// Builds the 400 of a request that makes no sense here.
    pub(crate) fn invalid(message: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", message)
    }

    /// Builds a 500 without the reason, which goes to the log.
    pub(crate) fn server_error() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "server_error", "Server error")
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
