//! An answer that is not 200 (service-facts, part 2).

use http::StatusCode;

use crate::api::rules::{FieldProblem, to_problem};
use crate::api::{Message, Problem};
use crate::store::index::IndexError;

/// What a request is refused with.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) problem: Problem,
    /// Are the changes made so far kept? A declined charge leaves its transaction behind.
    pub(crate) keeps_effects: bool,
}

impl Refusal {
    /// A refusal of one code and text.
    pub(crate) fn new(status: StatusCode, code: &str, message: &str) -> Self {
        Self { status, problem: Problem::new(code, message), keeps_effects: false }
    }

    /// 422 with a code of its own.
    pub(crate) fn rule(code: &str, message: &str) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, message)
    }

    /// 422 `invalid_data`, one message a field; `Ok` when there is nothing wrong.
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

    /// 422 `invalid_data` about one field.
    pub(crate) fn field(context: &str, sub_code: &str, message: &str) -> Self {
        let message = Message::new("invalid_data", message).about(context).sub_code(sub_code);
        Self {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            problem: Problem { messages: vec![message] },
            keeps_effects: false,
        }
    }

    /// 404 of a thing that is not there: `Type[id]`.
    pub(crate) fn missing(kind: &str, id: &str) -> Self {
        let message = Message::new("resource_not_found", "Resource not found");
        Self {
            status: StatusCode::NOT_FOUND,
            problem: Problem { messages: vec![message.about(&format!("{kind}[{id}]"))] },
            keeps_effects: false,
        }
    }

    /// 404 of a path that does not exist.
    pub(crate) fn no_path() -> Self {
        Self::new(StatusCode::NOT_FOUND, "resource_not_found", "Resource not found")
    }

    /// 401, whatever the reason.
    pub(crate) fn not_authorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "not_authorized", "Not authorized")
    }

    /// 400 of a body that cannot be read.
    pub(crate) fn malformed(message: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed_request", message)
    }

    /// 413 of a body that is longer than any request can be.
    pub(crate) fn too_large() -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "invalid_request", "Body is too large")
    }

    /// 400 of a request that makes no sense here.
    pub(crate) fn invalid(message: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", message)
    }

    /// 500, and nothing of the reason: it goes to the log.
    pub(crate) fn broken() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "server_error", "Server error")
    }
}

impl From<IndexError> for Refusal {
    fn from(error: IndexError) -> Self {
        tracing::error!(%error, "the sandbox's store failed");
        Self::broken()
    }
}

impl From<serde_json::Error> for Refusal {
    fn from(error: serde_json::Error) -> Self {
        tracing::error!(category = ?error.classify(), "a stored value of the sandbox cannot be read");
        Self::broken()
    }
}
