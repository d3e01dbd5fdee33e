//! The body of a control request, read field by field.
//!
//! A field that is absent counts as not given, and so does a text or a flag of another type. A typed
//! field of another form is refused with the form that it needs.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::sandbox::answer::SandboxRefusal;
use crate::sandbox::http::lenient_json;
use crate::sandbox::state::lists::MerchantMode;

/// The fields of a control request.
pub(crate) struct ControlOrder(Value);

/// One value for every account of a merchant, or a value for each account named.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum PerAccount<T> {
    Each(BTreeMap<String, T>),
    All(T),
}

impl ControlOrder {
    /// Parses a JSON object; an empty body is an empty object.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, SandboxRefusal> {
        if body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self(Value::Object(Map::new())));
        }
        let value = serde_json::from_slice(body)
            .map_err(|_| SandboxRefusal::malformed_body("Body is not JSON"))?;
        lenient_json::parse_body(value).map(Self)
    }

    /// Returns the whole object.
    pub(crate) fn value(&self) -> &Value {
        &self.0
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// Returns a text that may not be empty; `help` says what is missing.
    pub(crate) fn need_text(&self, name: &str, help: &str) -> Result<&str, SandboxRefusal> {
        let text = self.text(name).filter(|text| !text.is_empty());
        text.ok_or_else(|| SandboxRefusal::invalid(help))
    }

    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Value::as_bool)
    }

    /// Returns a field of this type; `help` describes the form that it needs.
    pub(crate) fn typed<T: DeserializeOwned>(
        &self,
        name: &str,
        help: &str,
    ) -> Result<Option<T>, SandboxRefusal> {
        let value = self.0.get(name).cloned().map(serde_json::from_value);
        value.transpose().map_err(|_| SandboxRefusal::invalid(help))
    }

    /// Returns a field of this type that must be given.
    pub(crate) fn need<T: DeserializeOwned>(
        &self,
        name: &str,
        help: &str,
    ) -> Result<T, SandboxRefusal> {
        self.typed(name, help)?.ok_or_else(|| SandboxRefusal::invalid(help))
    }

    /// Returns the field `mode`, or test mode.
    pub(crate) fn mode(&self) -> Result<MerchantMode, SandboxRefusal> {
        match self.text("mode") {
            None | Some("test") => Ok(MerchantMode::Test),
            Some("live") => Ok(MerchantMode::Live),
            Some(_) => Err(SandboxRefusal::invalid("mode is `test` or `live`")),
        }
    }
}
