//! Transactions: movements of money, with the drawn signatures of payers and a merchant's
//! surcharges (gateway-api, Transaction, POST /v1/transactions/{transactionId}/sign, Surcharge
//! entry).

use serde_json::Value;

use crate::api::call::ParameterType::{Moment, Text, Texts};
use crate::api::call::{
    ACCOUNT, AMOUNT, ORDER, PAGE, PAGE_SIZE, Page, Parameter, endpoints, objects,
};
use crate::api::method::{MethodKind, PaymentMethod};
use crate::api::method_token::MethodRef;
use crate::api::rules::{
    AMOUNT_MAX, FieldProblem, FieldProblems, TRANSACTION_REFERENCE_LENGTH_MAX,
};
use crate::api::schedule::{Recur, recur_rules};
use crate::api::wire::{self, Timestamp};

wire::words! {
    /// Type of a transaction.
    TransactionType {
        /// Takes money.
        Charge = "CHARGE",
        /// Returns a charge's money.
        Refund = "REFUND",
        /// Pays money out without a charge.
        Credit = "CREDIT",
    }

    /// Status of a transaction (gateway-api, States and transitions).
    TransactionStatus {
        /// Just created, or waiting for its parent.
        Pending = "PENDING",
        /// Approved; the daily run captures it.
        Authorized = "AUTHORIZED",
        /// Captured.
        Completed = "COMPLETED",
        /// Cancelled before capture.
        Voided = "VOIDED",
        /// Declined.
        Failed = "FAILED",
    }
}

objects! {
    /// The request that creates a charge.
    #[schemars(extend("required" = ["amount", "method"]))]
    pub struct NewCharge {
        /// Minor units; required.
        #[schemars(range(min = 1, max = AMOUNT_MAX))]
        pub amount: Option<i64>,
        /// Three letters; the account's by default.
        pub currency: Option<String>,
        /// Payment method; required.
        pub method: Option<MethodRef>,
        /// Id of the account; the primary account of the method's type by default.
        pub account_id: Option<String>,
        /// Default true; false places a hold (cards only).
        pub auto_capture: Option<bool>,
        /// At most 128 characters.
        #[schemars(length(max = TRANSACTION_REFERENCE_LENGTH_MAX))]
        pub reference: Option<String>,
        /// Minor units, shown on the receipt.
        #[schemars(range(min = 0, max = AMOUNT_MAX))]
        pub surcharge_amount: Option<i64>,
        /// Any object; stored and returned (service-facts, 33).
        #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
        pub data: Option<Value>,
        /// Minor units beside the amount; above 0 it needs a signature (service-facts, 33 and 47).
        #[schemars(range(min = 0, max = AMOUNT_MAX))]
        pub gratuity: Option<i64>,
        /// The payer's drawn signature (service-facts, 33).
        pub signature: Option<NewSignature>,
        /// The recurring charge that follows; needs `auto_capture`.
        pub recur: Option<Recur>,
    }

    /// A charge, refund or credit.
    pub struct Transaction {
        /// 22 characters.
        pub id: String,
        /// Charge, refund or credit.
        #[serde(rename = "type")]
        pub kind: TransactionType,
        /// Id of the account.
        pub account_id: String,
        /// Status of the transaction.
        pub status: TransactionStatus,
        /// Minor units.
        pub amount: i64,
        /// Three letters.
        pub currency: String,
        /// True where the daily run captures it.
        pub auto_capture: Option<bool>,
        /// Minor units refunded so far; on charges.
        pub amount_refunded: Option<i64>,
        /// Six characters.
        pub authorization_code: Option<String>,
        /// Creation of the transaction.
        pub created: Option<Timestamp>,
        /// Last change of the transaction.
        pub modified: Option<Timestamp>,
        /// The application through which it was created.
        pub client_id: Option<String>,
        /// Time of its capture.
        pub completion_timestamp: Option<Timestamp>,
        /// The caller's reference.
        pub reference: Option<String>,
        /// The reference given at capture.
        pub capture_reference: Option<String>,
        /// The reference given when voiding.
        pub void_reference: Option<String>,
        /// Minor units.
        pub surcharge_amount: Option<i64>,
        /// Minor units beside the amount (service-facts, 33).
        pub gratuity: Option<i64>,
        /// Reason of the failure.
        pub failure_code: Option<String>,
        /// The recurring charge that it belongs to.
        pub recurring_charge_id: Option<String>,
        /// The occurrence that it pays.
        pub recurring_charge_occurrence_id: Option<String>,
        /// Id of the parent charge; on a refund.
        pub charge_id: Option<String>,
        /// Id of its signature.
        pub signature_id: Option<String>,
        /// Additional data, as given.
        pub data: Option<Value>,
        /// Refunds; on a charge read by id, once it has some.
        pub refunds: Option<Vec<Transaction>>,
        /// Payment method, masked.
        pub method: Option<PaymentMethod>,
        /// Such as `MATCHED`.
        pub cvv_result: Option<String>,
        /// Such as `ADDRESS_AND_POSTAL_CODE`.
        pub avs_result: Option<String>,
    }

    /// A signature as a caller gives it; further fields of a client are ignored (service-facts, 26c).
    /// `data` is a secret: a person's drawn signature.
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

    /// One surcharge: of cards or of banks.
    pub struct SurchargeEntry {
        /// `card` or `bank`.
        #[serde(rename = "type")]
        pub kind: MethodKind,
        /// The part that grows with the amount; its unit is the service's own.
        pub surcharge_rate: i64,
        /// The fixed part, minor units.
        pub surcharge_fee: i64,
        /// Amount of the request, minor units; only with an amount.
        pub amount: Option<i64>,
        /// Surcharge on the amount, minor units; only with an amount.
        pub surcharge_amount: Option<i64>,
        /// Amount that a charge has to collect, minor units; only with an amount.
        pub total_amount: Option<i64>,
    }
}

/// Returns every problem of a charge's own fields; an inline method has rules of its own.
pub fn charge_rules(new: &NewCharge) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    problems.require_amount("amount", "Amount", new.amount);
    problems.require("method", "Payment method", new.method.is_some());
    problems.transaction_reference(new.reference.as_deref());
    problems.amount("surcharge_amount", "Surcharge amount", new.surcharge_amount.unwrap_or(0), 0);
    let Some(recur) = &new.recur else { return problems.into_list() };
    let text = "A recurring charge needs automatic capture";
    problems.unless(new.auto_capture != Some(false), "auto_capture", "invalid", text);
    let mut problems = problems.into_list();
    problems.extend(recur_rules(recur, new.amount));
    problems
}

const TEXT: Parameter = Parameter::new("q", Text, "a text that any property contains");
const FIELDS: Parameter = Parameter::new(
    "qf",
    Texts("^[^:]+:.*$"),
    "`name:text`: only objects whose property, with dots for nesting, begins with the text",
);
const FROM: Parameter = Parameter::new("start_date", Moment, "created at this time or later");
const UNTIL: Parameter = Parameter::new("end_date", Moment, "created at this time or earlier");

/// Maximum characters of a signature's type (service-facts, 31).
pub const MIME_TYPE_LENGTH_MAX: usize = 64;
/// Maximum characters of a signature (service-facts, 31).
pub const SIGNATURE_LENGTH_MAX: usize = 8192;

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
        problems.push(FieldProblem::new("data", "invalid", "Signature is invalid"));
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

endpoints! {
    /// Authorises a payment.
    CreateCharge "charge.create": Post Base "/v1/charges" by SecretKey, NewCharge => Transaction;
    /// Reads any transaction; not in the two documents (service-facts, 43).
    GetTransaction "transaction.get": Get Base "/v1/transactions/{id}" by SecretKey,
        () => Transaction;
    /// Searches transactions; not in the two documents (service-facts, 44).
    SearchTransactions "transaction.search": Get Base "/v1/transactions" by SecretKey,
        () => Page<Transaction>, [PAGE, PAGE_SIZE, TEXT, FIELDS, ACCOUNT, FROM, UNTIL, ORDER];
    /// Reads the surcharges of a bank account; none where the merchant has no surcharge.
    GetSurcharge "surcharge.get": Get Base "/bank-accounts/{id}/surcharge" by PublicKey,
        () => Option<Vec<SurchargeEntry>>, [AMOUNT];
}
