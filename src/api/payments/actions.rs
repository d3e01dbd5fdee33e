//! Actions on a transaction after its creation, and credits: money paid out without a charge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::transaction::Transaction;
use crate::api::methods::method::MethodRef;
use crate::api::query::{ACCOUNT, PAGE, PAGE_SIZE, Parameter};
use crate::api::rules::{
    AMOUNT_MAX, FieldProblem, FieldProblems, TRANSACTION_REFERENCE_LENGTH_MAX,
};
use crate::api::wire::Timestamp;
use crate::api::{Auth, Endpoint, Host, Method, Page};

/// Captures at once, which is the default.
pub const CAPTURE_NOW: &str = "IMMEDIATE";
/// Captures with the next daily run (service-facts, 46).
pub const CAPTURE_LATER: &str = "NEXT_AUTO_CAPTURE";
const CAPTURE_TIMES: [&str; 2] = [CAPTURE_NOW, CAPTURE_LATER];
/// Maximum characters of a signature's type (service-facts, 31).
pub const MIME_TYPE_LENGTH_MAX: usize = 64;
/// Maximum characters of a signature (service-facts, 31).
pub const SIGNATURE_LENGTH_MAX: usize = 8192;

/// The request that captures a hold (gateway-api, POST /v1/charges/{chargeId}/capture).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["amount"]))]
pub struct NewCapture {
    /// Minor units; has to equal the authorised amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = AMOUNT_MAX))]
    pub amount: Option<i64>,
    /// Three letters; the charge's by default (service-facts, 33).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// At most 128 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = TRANSACTION_REFERENCE_LENGTH_MAX))]
    pub reference: Option<String>,
    /// `IMMEDIATE` (the default) or `NEXT_AUTO_CAPTURE` (service-facts, 46).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["IMMEDIATE", "NEXT_AUTO_CAPTURE"]))]
    pub capture_time: Option<String>,
    /// Minor units beside the amount; above 0 it needs a signature (service-facts, 47).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = AMOUNT_MAX))]
    pub gratuity: Option<i64>,
    /// The payer's drawn signature (service-facts, 47).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<NewSignature>,
}

/// The request that refunds a charge, all of it or a part.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["amount"]))]
pub struct NewRefund {
    /// Minor units; required.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = AMOUNT_MAX))]
    pub amount: Option<i64>,
    /// Three letters; the charge's by default (service-facts, 33).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Another card or bank account of the same type, where the tenant allows it (service-facts, 54).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<MethodRef>,
    /// At most 128 characters; not in the documents, but public clients read it (service-facts,
    /// 26c).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = TRANSACTION_REFERENCE_LENGTH_MAX))]
    pub reference: Option<String>,
    /// Any object; stored and returned (service-facts, 33).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub data: Option<Value>,
}

/// The request that voids a transaction before it is settled; every field may be left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NewVoid {
    /// At most 128 characters; comes back as `void_reference`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = TRANSACTION_REFERENCE_LENGTH_MAX))]
    pub reference: Option<String>,
}

/// The request that pays money out without a charge.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["amount", "method"]))]
pub struct NewCredit {
    /// Minor units; required.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = AMOUNT_MAX))]
    pub amount: Option<i64>,
    /// Three letters; the account's by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Payment method; required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<MethodRef>,
    /// Id of the account; the primary account of the method's type by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    /// Not documented for credits; stored where the service accepts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Signature {
    /// 22 characters; only when it is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Creation of the signature; only when it is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Timestamp>,
    /// `service/jsignature`, or any text of 1 to 64 characters (service-facts, 49).
    pub mime_type: String,
    /// JSON stroke data with arrays x and y, 1 to 8192 characters.
    pub data: String,
}

/// A signed transaction with its signature (service-facts, 48 and part 12).
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Signed")]
pub struct SignedTransaction {
    /// The transaction, with `signature_id`.
    #[serde(flatten)]
    pub transaction: Transaction,
    /// The signature.
    pub signature: Signature,
}

/// Returns every problem of a capture's own fields.
pub fn capture_rules(new: &NewCapture) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    problems.require_amount("amount", "Amount", new.amount);
    let reference = new.reference.as_deref();
    problems.length_max("reference", "Reference", reference, TRANSACTION_REFERENCE_LENGTH_MAX);
    let time = new.capture_time.as_deref();
    if !time.is_none_or(|word| CAPTURE_TIMES.contains(&word)) {
        problems.add("capture_time", "invalid", "Capture time is invalid");
    }
    problems.into_list()
}

/// Returns every problem of a refund's own fields; another method has rules of its own.
pub fn refund_rules(new: &NewRefund) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    problems.require_amount("amount", "Amount", new.amount);
    let reference = new.reference.as_deref();
    problems.length_max("reference", "Reference", reference, TRANSACTION_REFERENCE_LENGTH_MAX);
    problems.into_list()
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

/// Returns every problem of a void's own fields.
pub fn void_rules(new: &NewVoid) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    let reference = new.reference.as_deref();
    problems.length_max("reference", "Reference", reference, TRANSACTION_REFERENCE_LENGTH_MAX);
    problems.into_list()
}

/// Returns every problem of a credit's own fields.
pub fn credit_rules(new: &NewCredit) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    problems.require_amount("amount", "Amount", new.amount);
    if new.method.is_none() {
        problems.add("method", "not_null", "Payment method cannot be blank");
    }
    problems.into_list()
}

macro_rules! endpoint {
    ($(#[$doc:meta])* $name:ident, $word:literal, $method:ident $path:literal, $request:ty, $reply:ty $(, $query:expr)*) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, JsonSchema)]
        pub struct $name;

        impl Endpoint for $name {
            const NAME: &'static str = $word;
            const METHOD: Method = Method::$method;
            const HOST: Host = Host::Base;
            const PATH: &'static str = $path;
            const AUTH: Auth = Auth::SecretKey;
            const QUERY: &'static [Parameter] = &[$($query),*];
            type Request = $request;
            type Reply = $reply;
        }
    };
}

endpoint! {
    /// Captures a hold (gateway-api, POST /v1/charges/{chargeId}/capture).
    CaptureCharge, "charge.capture", Post "/v1/charges/{id}/capture", NewCapture, Transaction
}
endpoint! {
    /// Lists holds that are neither captured nor voided, newest first (gateway-api, GET /v1/charges/holds).
    ListHolds, "charge.holds", Get "/v1/charges/holds", (), Page<Transaction>, PAGE, PAGE_SIZE, ACCOUNT
}
endpoint! {
    /// Refunds a charge (gateway-api, POST /v1/charges/{chargeId}/refund).
    RefundCharge, "charge.refund", Post "/v1/charges/{id}/refund", NewRefund, Transaction
}
endpoint! {
    /// Voids a transaction before it is settled (gateway-api, POST
    /// /v1/transactions/{transactionId}/void).
    VoidTransaction, "transaction.void", Post "/v1/transactions/{id}/void", NewVoid, Transaction
}
endpoint! {
    /// Pays money out without a charge (gateway-api, POST /v1/credits).
    CreateCredit, "credit.create", Post "/v1/credits", NewCredit, Transaction
}
endpoint! {
    /// Stores a signature of a transaction (gateway-api, POST
    /// /v1/transactions/{transactionId}/sign).
    SignTransaction, "transaction.sign", Post "/v1/transactions/{id}/sign", NewSignature, SignedTransaction
}
endpoint! {
    /// Reads a signature; not in the two documents (service-facts, 48).
    GetSignature, "signature.get", Get "/v1/signatures/{id}", (), Signature
}
