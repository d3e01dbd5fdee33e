//! Our own counted numbers, and the mode that separates pretend money from real money.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{text}`; write {example}")]
pub struct NumberError {
    pub text: String,
    pub what: &'static str,
    pub example: &'static str,
}

/// Number of an intent, counted from 1 within one state directory. Written `i-000123`.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema
)]
#[derive(derive_more::Display)]
#[display("i-{_0:06}")]
#[serde(transparent)]
pub struct IntentId(u64);

impl IntentId {
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the next number; the same at the greatest one, which no journal reaches.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl FromStr for IntentId {
    type Err = NumberError;

    /// Reads `i-123`, `i-000123` and `123`.
    fn from_str(text: &str) -> Result<Self, NumberError> {
        let digits = text.strip_prefix("i-").unwrap_or(text);
        let wrong = || NumberError {
            text: text.to_owned(),
            what: "intent",
            example: "its number, such as `i-000123` or `123`",
        };
        if !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(wrong());
        }
        digits.parse().map(Self).map_err(|_| wrong())
    }
}

/// Pretend money or real money; the key of a request decides (service-facts, 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, JsonSchema, derive_more::Display)]
#[display("{}", self.as_str())]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Pretend money: no payment is ever collected.
    Test,
    /// Real cards, real accounts.
    Live,
}

impl Mode {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Live => "live",
        }
    }
}

impl FromStr for Mode {
    type Err = NumberError;

    fn from_str(text: &str) -> Result<Self, NumberError> {
        match text {
            "test" => Ok(Self::Test),
            "live" => Ok(Self::Live),
            _ => Err(NumberError {
                text: text.to_owned(),
                what: "mode",
                example: "`test` or `live`",
            }),
        }
    }
}
