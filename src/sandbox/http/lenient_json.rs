//! Lenient parsing: normalises bodies that clients send and the service accepts, before they are
//! typed (service-facts, 9, 11; gateway-api: amounts may be strings).
//!
//! Explicit nulls count as absent. Arrays may be objects with the keys 0, 1, …; numbers may be
//! strings, and texts may be numbers. Free-form objects (`data`, `form_data`) stay unchanged.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::api::methods::bank::NewBank;
use crate::api::methods::card::NewCard;
use crate::sandbox::answer::SandboxRefusal;

const INTEGERS: [&str; 10] = [
    "amount",
    "surcharge_amount",
    "gratuity",
    "exp_month",
    "exp_year",
    "interval_delay",
    "max_occurrences",
    "max_amount",
    "page",
    "page_size",
];

const BOOLEANS: [&str; 2] = ["auto_capture", "test_mode"];

const ARRAYS: [&str; 5] =
    ["days", "line_items", "email_addresses", "invoice_messages", "attachments"];

const TEXTS: [&str; 12] = [
    "number",
    "cvv",
    "postal_code",
    "routing_number",
    "account_number",
    "phone",
    "name",
    "address1",
    "reference",
    "description",
    "rate_per_quantity",
    "quantity",
];

const FREE: [&str; 2] = ["data", "form_data"];

/// Parses a body into its type.
///
/// # Errors
///
/// 400 for a body that is no object, 422 for a field of a wrong type.
pub(crate) fn parse_body<T: DeserializeOwned>(body: Value) -> Result<T, SandboxRefusal> {
    let Value::Object(map) = body else {
        return Err(SandboxRefusal::malformed_body("Body is not an object"));
    };
    let value = Value::Object(object(map));
    let method = value.get("method").cloned();
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string().replace('[', ".").replace(']', "");
        match method.as_ref().filter(|_| path == "method").and_then(wrong_method_field) {
            Some(field) => type_refusal(&format!("method.{field}")),
            None => type_refusal(&path),
        }
    })
}

/// Returns the field of a method's details that has a wrong type.
fn wrong_method_field(method: &Value) -> Option<String> {
    fn path<T: DeserializeOwned>(method: &Value) -> Option<String> {
        let read: Result<T, _> = serde_path_to_error::deserialize(method);
        read.err().map(|error| error.path().to_string())
    }
    if method.get("type").and_then(Value::as_str) == Some("bank") {
        path::<NewBank>(method)
    } else {
        path::<NewCard>(method)
    }
}

/// Refuses a value of a wrong type; a date of expiry has its own text (service-facts, 26a).
fn type_refusal(path: &str) -> SandboxRefusal {
    let text = match path.rsplit('.').next() {
        Some("exp_month") => "Expiration month is invalid",
        Some("exp_year") => "Expiration year is invalid",
        Some(_) | None => "Value is invalid",
    };
    SandboxRefusal::field(path, "invalid", text)
}

/// Removes nulls from an object and normalises its values.
pub(crate) fn object(map: Map<String, Value>) -> Map<String, Value> {
    let present = map.into_iter().filter(|(_, value)| !value.is_null());
    present
        .map(|(name, value)| {
            let value = if FREE.contains(&name.as_str()) { value } else { normalise(&name, value) };
            (name, value)
        })
        .collect()
}

fn normalise(name: &str, value: Value) -> Value {
    match value {
        Value::String(text) if INTEGERS.contains(&name) => integer(text),
        Value::String(text) if BOOLEANS.contains(&name) => boolean(text),
        Value::Number(number) if TEXTS.contains(&name) => Value::String(number.to_string()),
        Value::Object(map) if ARRAYS.contains(&name) && is_numbered(&map) => {
            Value::Array(map.into_iter().map(|(_, item)| normalise(name, item)).collect())
        }
        Value::Number(number) if name == "days" => Value::String(number.to_string()),
        Value::Object(map) => Value::Object(object(map)),
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| normalise(name, item)).collect())
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
    }
}

fn integer(text: String) -> Value {
    text.trim().parse::<i64>().map_or(Value::String(text), Value::from)
}

fn boolean(text: String) -> Value {
    match text.as_str() {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => Value::String(text),
    }
}

/// Returns true if the keys are 0, 1, 2, … in order.
fn is_numbered(map: &Map<String, Value>) -> bool {
    map.keys().zip(0_usize..).all(|(key, at)| *key == at.to_string())
}
