//! Bodies of requests: normalised before they are typed, checked against the documented surface,
//! and read field by field for the control paths.
//!
//! Lenient parsing accepts what clients send and the service accepts (service-facts, 9, 11;
//! gateway-api: amounts may be strings). Explicit nulls count as absent. Arrays may be objects
//! with the keys 0, 1, …; numbers may be strings, and texts may be numbers. Free-form objects
//! (`data`, `form_data`) stay unchanged.
//!
//! The documented surface is as strict as the two documents: it refuses what public clients do,
//! the documents do not allow, and `--surface public` accepts. `docs/design/assumptions.md` lists
//! it.
//!
//! In the body of a control request, a field that is absent counts as not given, and so does a
//! text or a flag of another type. A typed field of another form is refused with the form that it
//! needs.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::api::credentials::{SCOPE_PAYMENTS, SCOPE_TENANT};
use crate::api::rules::{FieldProblems, has_word};
use crate::api::saved_method::{NewBank, NewCard};
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::request::ParsedRequest;
use crate::sandbox::state::objects::MerchantMode;
use crate::sandbox::state::store::ChangeUnit;

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

/// Parses a body into its type. 400 for a body that is no object, 422 for a field of a wrong type.
pub(crate) fn parse_body<T: DeserializeOwned>(body: Value) -> Result<T> {
    let Value::Object(map) = body else {
        return Err(SandboxRefusal::malformed_body("Body is not an object"));
    };
    let value = Value::Object(normalise_object(map));
    let method = value.get("method").cloned();
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string().replace('[', ".").replace(']', "");
        match method.as_ref().filter(|_| path == "method").and_then(wrong_method_field) {
            Some(field) => type_refusal(&format!("method.{field}")),
            None => type_refusal(&path),
        }
    })
}

fn wrong_method_field(method: &Value) -> Option<String> {
    fn path<T: DeserializeOwned>(method: &Value) -> Option<String> {
        let read: Result<T, _> = serde_path_to_error::deserialize(method);
        read.err().map(|error| error.path().to_string())
    }
    let is_bank = method.get("type").and_then(Value::as_str) == Some("bank");
    if is_bank { path::<NewBank>(method) } else { path::<NewCard>(method) }
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

pub(crate) fn normalise_object(map: Map<String, Value>) -> Map<String, Value> {
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
        Value::String(text) if INTEGERS.contains(&name) => {
            text.trim().parse::<i64>().map_or(Value::String(text), Value::from)
        }
        Value::String(text) if BOOLEANS.contains(&name) => {
            text.parse::<bool>().map_or(Value::String(text), Value::from)
        }
        Value::Number(number) if TEXTS.contains(&name) || name == "days" => {
            Value::String(number.to_string())
        }
        Value::Object(map) if ARRAYS.contains(&name) && is_numbered(&map) => {
            Value::Array(map.into_iter().map(|(_, item)| normalise(name, item)).collect())
        }
        Value::Object(map) => Value::Object(normalise_object(map)),
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| normalise(name, item)).collect())
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
    }
}

fn is_numbered(map: &Map<String, Value>) -> bool {
    map.keys().zip(0_usize..).all(|(key, at)| *key == at.to_string())
}

/// Endpoints whose `method` may be an object that names its type (gateway-api, Payment method).
const WITH_METHOD: &str =
    "charge.create charge.refund credit.create recurring.create recurring.patch";

/// Whole numbers that are no amounts: only an amount may be a string (gateway-api, introduction).
const INTEGER_FIELDS: [&str; 4] = ["exp_month", "exp_year", "interval_delay", "max_occurrences"];
/// Fields of a line item that are strings in requests (partner-api, POST /invoices).
const LINE_TEXTS: [&str; 2] = ["rate_per_quantity", "quantity"];

/// Refuses with 422, field by field, what the documents do not allow in a body.
pub(crate) fn check_documented(cx: &ChangeUnit, endpoint: &str, body: &Value) -> Result<()> {
    if cx.is_public() {
        return Ok(());
    }
    let mut problems = FieldProblems::default();
    if has_word(WITH_METHOD, endpoint) {
        check_method(&mut problems, endpoint, body.get("method").unwrap_or(&Value::Null));
    }
    if endpoint == "contact.create" {
        check_contact(&mut problems, body);
    }
    check_value_forms(&mut problems, "", body);
    SandboxRefusal::fields("", &problems.into_list())
}

/// Checks that written-out details name their type, and that a recurring charge takes a saved
/// method or a token (gateway-api, POST /v1/recurring/charges).
fn check_method(problems: &mut FieldProblems, endpoint: &str, method: &Value) {
    if !method.is_object() {
        return;
    }
    if endpoint == "recurring.create" {
        let text = "Payment method must be the ID of a saved method or a token";
        return problems.add("method", "invalid", text);
    }
    match method.get("type").and_then(Value::as_str) {
        Some("card" | "bank") => {}
        Some(_) => problems.add("method.type", "invalid", "Payment method type is invalid"),
        None => problems.add("method.type", "not_blank", "Payment method type cannot be blank"),
    }
}

/// Checks that a contact has an address and a type (partner-api, POST /contacts).
fn check_contact(problems: &mut FieldProblems, body: &Value) {
    let given = |name: &str| body.get(name).filter(|value| !value.is_null());
    let emails = given("email_addresses");
    let has_email = emails.is_some_and(|all| all.as_array().is_none_or(|all| !all.is_empty()));
    let text = "Email addresses cannot be blank";
    problems.unless(has_email, "email_addresses", "not_blank", text);
    problems.unless(given("type").is_some(), "type", "not_blank", "Type cannot be blank");
}

/// Refuses values in another form than the documents write: a number for a text, a text for a
/// number that is no amount, an object with numbered keys for a list.
fn check_value_forms(problems: &mut FieldProblems, path: &str, value: &Value) {
    if let Value::Array(items) = value {
        for (at, item) in items.iter().enumerate() {
            check_value_forms(problems, &join_path(path, &at.to_string()), item);
        }
    }
    for (name, inner) in value.as_object().into_iter().flatten() {
        let here = join_path(path, name);
        let strange = match inner {
            Value::Number(_) => LINE_TEXTS.contains(&name.as_str()),
            Value::String(_) => INTEGER_FIELDS.contains(&name.as_str()),
            Value::Object(_) => ARRAYS.contains(&name.as_str()),
            Value::Null | Value::Bool(_) | Value::Array(_) => false,
        };
        problems.unless(!strange, &here, "invalid", "Value is invalid");
        if !strange && !FREE.contains(&name.as_str()) {
            check_value_forms(problems, &here, inner);
        }
    }
}

fn join_path(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Checks a token request: JSON with one of two scopes, else 400 (partner-api, POST /oauth/token).
pub(crate) fn check_token_request(
    cx: &ChangeUnit,
    asked: &ParsedRequest,
    scope: Option<&str>,
) -> Result<()> {
    match scope {
        _ if cx.is_public() => Ok(()),
        _ if asked.is_form() => Err(SandboxRefusal::invalid("Content type is not supported")),
        Some(SCOPE_TENANT | SCOPE_PAYMENTS) => Ok(()),
        Some(_) | None => Err(SandboxRefusal::invalid("Scope does not fit the grant type")),
    }
}

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
    pub(crate) fn parse(body: &[u8]) -> Result<Self> {
        if body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self(Value::Object(Map::new())));
        }
        let value = serde_json::from_slice(body)
            .map_err(|_| SandboxRefusal::malformed_body("Body is not JSON"))?;
        parse_body(value).map(Self)
    }

    pub(crate) fn value(&self) -> &Value {
        &self.0
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// Returns a text that may not be empty; `help` says what is missing.
    pub(crate) fn need_text(&self, name: &str, help: &str) -> Result<&str> {
        let text = self.text(name).filter(|text| !text.is_empty());
        text.ok_or_else(|| SandboxRefusal::invalid(help))
    }

    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Value::as_bool)
    }

    /// Returns a field of this type; `help` describes the form that it needs.
    pub(crate) fn typed<T: DeserializeOwned>(&self, name: &str, help: &str) -> Result<Option<T>> {
        let value = self.0.get(name).cloned().map(serde_json::from_value);
        value.transpose().map_err(|_| SandboxRefusal::invalid(help))
    }

    /// Sets the target to a field of its type, if given.
    pub(crate) fn set<T: DeserializeOwned>(
        &self,
        name: &str,
        help: &str,
        target: &mut T,
    ) -> Result<()> {
        if let Some(value) = self.typed(name, help)? {
            *target = value;
        }
        Ok(())
    }

    pub(crate) fn set_text(&self, name: &str, target: &mut String) {
        if let Some(text) = self.text(name) {
            text.clone_into(target);
        }
    }

    pub(crate) fn need<T: DeserializeOwned>(&self, name: &str, help: &str) -> Result<T> {
        self.typed(name, help)?.ok_or_else(|| SandboxRefusal::invalid(help))
    }

    /// Returns the field `mode`, or test mode.
    pub(crate) fn mode(&self) -> Result<MerchantMode> {
        match self.text("mode") {
            None | Some("test") => Ok(MerchantMode::Test),
            Some("live") => Ok(MerchantMode::Live),
            Some(_) => Err(SandboxRefusal::invalid("mode is `test` or `live`")),
        }
    }
}
