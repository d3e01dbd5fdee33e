//! The documented surface is as strict as the two documents. Each function refuses one thing that
//! public clients do, the documents do not allow, and `--surface public` accepts.
//! `docs/design/assumptions.md` lists them.

use serde_json::Value;

use super::request::ParsedRequest;
use crate::api::methods::token::{SCOPE_PAYMENTS, SCOPE_TENANT};
use crate::api::rules::FieldProblems;
use crate::sandbox::answer::SandboxRefusal;
use crate::sandbox::options::ServiceSurface;
use crate::sandbox::state::store::ChangeUnit;

/// Endpoints whose `method` may be an object, which then names its type (gateway-api, Payment
/// method in a request).
const WITH_METHOD: [&str; 5] =
    ["charge.create", "charge.refund", "credit.create", "recurring.create", "recurring.patch"];

/// Whole numbers that are no amounts: only an amount may be sent as a string (gateway-api,
/// introduction).
const INTEGER_FIELDS: [&str; 4] = ["exp_month", "exp_year", "interval_delay", "max_occurrences"];

/// Fields of a line item that are strings in requests (partner-api, POST /invoices).
const LINE_TEXTS: [&str; 2] = ["rate_per_quantity", "quantity"];

const LISTS: [&str; 5] =
    ["days", "line_items", "email_addresses", "invoice_messages", "attachments"];

/// Returns true on the documented surface.
pub(crate) fn is_documented_only(cx: &ChangeUnit<'_>) -> bool {
    cx.environment.options.surface == ServiceSurface::Documented
}

/// Refuses everything in a request body that the documents do not allow.
///
/// # Errors
/// 422 with a message for each field.
pub(crate) fn check(
    cx: &ChangeUnit<'_>,
    endpoint: &str,
    body: &Value,
) -> Result<(), SandboxRefusal> {
    if !is_documented_only(cx) {
        return Ok(());
    }
    let mut problems = FieldProblems::default();
    if WITH_METHOD.contains(&endpoint) {
        method(&mut problems, endpoint, body.get("method").unwrap_or(&Value::Null));
    }
    if endpoint == "contact.create" {
        contact(&mut problems, body);
    }
    check_value_forms(&mut problems, "", body);
    SandboxRefusal::fields("", &problems.into_list())
}

/// Checks that written-out details name their type, and that a recurring charge takes a saved
/// method or a token (gateway-api, POST /v1/recurring/charges).
fn method(problems: &mut FieldProblems, endpoint: &str, method: &Value) {
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
fn contact(problems: &mut FieldProblems, body: &Value) {
    let given = |name: &str| body.get(name).filter(|value| !value.is_null());
    if given("email_addresses").is_none_or(|all| all.as_array().is_some_and(Vec::is_empty)) {
        problems.add("email_addresses", "not_blank", "Email addresses cannot be blank");
    }
    if given("type").is_none() {
        problems.add("type", "not_blank", "Type cannot be blank");
    }
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
            Value::Object(_) => LISTS.contains(&name.as_str()),
            Value::Null | Value::Bool(_) | Value::Array(_) => false,
        };
        match (strange, name.as_str()) {
            (true, _) => problems.add(&here, "invalid", "Value is invalid"),
            (false, "data" | "form_data") => {}
            (false, _) => check_value_forms(problems, &here, inner),
        }
    }
}

fn join_path(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Checks a token request: JSON, with one of two scopes (partner-api, POST /oauth/token).
///
/// # Errors
/// 400 for a form, for another scope and for none.
pub(crate) fn token(
    cx: &ChangeUnit<'_>,
    asked: &ParsedRequest,
    scope: Option<&str>,
) -> Result<(), SandboxRefusal> {
    match scope {
        _ if !is_documented_only(cx) => Ok(()),
        _ if asked.is_form() => Err(SandboxRefusal::invalid("Content type is not supported")),
        Some(SCOPE_TENANT | SCOPE_PAYMENTS) => Ok(()),
        Some(_) | None => Err(SandboxRefusal::invalid("Scope does not fit the grant type")),
    }
}
