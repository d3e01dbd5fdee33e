//! Drawn signatures of payers (gateway-api, POST /v1/transactions/{transactionId}/sign).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use crate::api::rules::{FieldProblem, FieldProblems};
use crate::api::wire::Timestamp;

/// Maximum characters of a signature's type (service-facts, 31).
pub const MIME_TYPE_LENGTH_MAX: usize = 64;

/// Maximum characters of a signature (service-facts, 31).
pub const SIGNATURE_LENGTH_MAX: usize = 8192;

/// A signature as a caller gives it; further fields of a client are ignored (service-facts, 26c).
/// `data` is a secret: a person's drawn signature.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["mime_type", "data"]))]
pub struct NewSignature {
    /// `service/jsignature`, or any text of 1 to 64 characters (service-facts, 49).
    #[schemars(length(min = 1, max = MIME_TYPE_LENGTH_MAX), regex(pattern = r"\S"))]
    pub mime_type: String,
    /// JSON stroke data with arrays x and y, 1 to 8192 characters.
    #[schemars(length(min = 1, max = SIGNATURE_LENGTH_MAX), regex(pattern = r"\S"))]
    pub data: String,
}

/// A stored signature. `data` is a secret: a person's drawn signature.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Signature {
    /// 22 characters; only when it is read.
    pub id: Option<String>,
    /// Creation of the signature; only when it is read.
    pub created: Option<Timestamp>,
    /// `service/jsignature`, or any text of 1 to 64 characters (service-facts, 49).
    pub mime_type: String,
    /// JSON stroke data with arrays x and y, 1 to 8192 characters.
    pub data: String,
}

/// Returns every problem of a signature (service-facts, 31 and 48).
pub fn signature_rules(new: &NewSignature) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    let (mime_type, data) = (new.mime_type.as_str(), new.data.as_str());
    problems.require_text("mime_type", "Signature type", mime_type);
    problems.length_max("mime_type", "Signature type", Some(mime_type), MIME_TYPE_LENGTH_MAX);
    problems.require_text("data", "Signature", data);
    problems.length_max("data", "Signature", Some(data), SIGNATURE_LENGTH_MAX);
    let mut problems = problems.into_list();
    if problems.is_empty() && mime_type.ends_with("/jsignature") && !are_strokes(data) {
        let (context, message) = ("data".to_owned(), "Signature is invalid".to_owned());
        problems.push(FieldProblem { context, sub_code: "invalid".to_owned(), message });
    }
    problems
}

/// Returns whether a text is JSON stroke data with arrays x and y (gateway-api, POST
/// /v1/transactions/{transactionId}/sign): one stroke, or a list of them.
fn are_strokes(data: &str) -> bool {
    let numbers = |value: Option<&Value>| {
        let list = value.and_then(Value::as_array);
        list.is_some_and(|list| list.iter().all(Value::is_number))
    };
    let is_stroke = |one: &Value| numbers(one.get("x")) && numbers(one.get("y"));
    match serde_json::from_str(data) {
        Ok(Value::Array(all)) => !all.is_empty() && all.iter().all(is_stroke),
        Ok(one) => is_stroke(&one),
        Err(_) => false,
    }
}
