//! The service's error body (service-facts, part 2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// The JSON body of every answer that is not 200.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// The problems, one entry per field or rule.
    #[serde(default)]
    pub messages: Vec<ProblemMessage>,
}

/// One problem of a request.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Message")]
pub struct ProblemMessage {
    /// Machine-readable code, such as `invalid_data` or `card_declined`.
    pub code: String,
    /// `error` or `info`.
    pub level: Option<String>,
    /// `gateway` or `payment_processor`.
    pub facility: Option<String>,
    /// A short English text, shown to people as it is.
    pub message: Option<String>,
    /// The field's path, dots for nesting; or `Type[id]` of a missing object.
    pub context: Option<String>,
    /// Finer code of a field's problem, such as `invalid_length`.
    pub sub_code: Option<String>,
    /// The transaction that records a decline.
    pub entity_id: Option<String>,
}

impl Problem {
    /// Makes a problem of one message with a code and a text.
    pub fn new(code: &str, message: &str) -> Self {
        Self { messages: vec![ProblemMessage::new(code, message)] }
    }

    /// Returns the first code, empty when the body held none.
    pub fn code(&self) -> &str {
        self.messages.first().map_or("", |message| message.code.as_str())
    }
}

impl ProblemMessage {
    /// Makes an error message of the gateway with a code and a text.
    pub fn new(code: &str, message: &str) -> Self {
        Self {
            code: code.to_owned(),
            level: Some("error".to_owned()),
            facility: Some("gateway".to_owned()),
            message: Some(message.to_owned()),
            ..Self::default()
        }
    }

    /// Sets the field or object that the message refers to.
    #[must_use]
    pub fn with_context(mut self, context: &str) -> Self {
        self.context = Some(context.to_owned());
        self
    }

    /// Sets a finer code.
    #[must_use]
    pub fn with_sub_code(mut self, sub_code: &str) -> Self {
        self.sub_code = Some(sub_code.to_owned());
        self
    }
}
