//! Transactions: movements of money (gateway-api, Transaction).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::schedule::{Recur, recur_rules};
use super::signature;
use crate::api::call::{Auth, Endpoint, Host, Method};
use crate::api::methods::method::PaymentMethod;
use crate::api::methods::method_ref::MethodRef;
use crate::api::query::{ACCOUNT, ORDER, PAGE, PAGE_SIZE, Page, Parameter, ParameterType};
use crate::api::rules::{
    AMOUNT_MAX, FieldProblem, FieldProblems, TRANSACTION_REFERENCE_LENGTH_MAX,
};
use crate::api::wire;
use crate::api::wire::Timestamp;

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
}

wire::words! {
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

/// The request that creates a charge.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["amount", "method"]))]
pub struct NewCharge {
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
    /// Default true; false places a hold (cards only).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_capture: Option<bool>,
    /// At most 128 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = TRANSACTION_REFERENCE_LENGTH_MAX))]
    pub reference: Option<String>,
    /// Minor units, shown on the receipt.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = AMOUNT_MAX))]
    pub surcharge_amount: Option<i64>,
    /// Any object; stored and returned (service-facts, 33).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub data: Option<serde_json::Value>,
    /// Minor units beside the amount; above 0 it needs a signature (service-facts, 33 and 47).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = AMOUNT_MAX))]
    pub gratuity: Option<i64>,
    /// The payer's drawn signature (service-facts, 33).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<signature::NewSignature>,
    /// The recurring charge that follows; needs `auto_capture`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recur: Option<Recur>,
}

/// A charge, refund or credit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_capture: Option<bool>,
    /// Minor units refunded so far; on charges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount_refunded: Option<i64>,
    /// Six characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authorization_code: Option<String>,
    /// Creation of the transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Timestamp>,
    /// Last change of the transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<Timestamp>,
    /// The application through which it was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// Time of its capture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_timestamp: Option<Timestamp>,
    /// The caller's reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The reference given at capture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture_reference: Option<String>,
    /// The reference given when voiding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub void_reference: Option<String>,
    /// Minor units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surcharge_amount: Option<i64>,
    /// Minor units beside the amount (service-facts, 33).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gratuity: Option<i64>,
    /// Reason of the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_code: Option<String>,
    /// The recurring charge that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recurring_charge_id: Option<String>,
    /// The occurrence that it pays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recurring_charge_occurrence_id: Option<String>,
    /// Id of the parent charge; on a refund.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charge_id: Option<String>,
    /// Id of its signature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature_id: Option<String>,
    /// Additional data, as given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<serde_json::Value>,
    /// Refunds; on a charge read by id, once it has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refunds: Option<Vec<Transaction>>,
    /// Payment method, masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<PaymentMethod>,
    /// Such as `MATCHED`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cvv_result: Option<String>,
    /// Such as `ADDRESS_AND_POSTAL_CODE`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub avs_result: Option<String>,
}

/// Returns every problem of a charge's own fields; an inline method has rules of its own.
pub fn rules(new: &NewCharge) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    problems.require_amount("amount", "Amount", new.amount);
    if new.method.is_none() {
        problems.add("method", "not_null", "Payment method cannot be blank");
    }
    let reference = new.reference.as_deref();
    problems.length_max("reference", "Reference", reference, TRANSACTION_REFERENCE_LENGTH_MAX);
    if let Some(amount) = new.surcharge_amount {
        problems.amount("surcharge_amount", "Surcharge amount", amount, 0);
    }
    let Some(recur) = &new.recur else {
        return problems.into_list();
    };
    if new.auto_capture == Some(false) {
        problems.add("auto_capture", "invalid", "A recurring charge needs automatic capture");
    }
    let mut problems = problems.into_list();
    problems.extend(recur_rules(recur, new.amount));
    problems
}

/// Authorises a payment.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct CreateCharge;

impl Endpoint for CreateCharge {
    const NAME: &'static str = "charge.create";
    const METHOD: Method = Method::Post;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/charges";
    const AUTH: Auth = Auth::SecretKey;
    type Request = NewCharge;
    type Reply = Transaction;
}

/// Reads any transaction; not in the two documents (service-facts, 43).
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct GetTransaction;

impl Endpoint for GetTransaction {
    const NAME: &'static str = "transaction.get";
    const METHOD: Method = Method::Get;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/transactions/{id}";
    const AUTH: Auth = Auth::SecretKey;
    type Request = ();
    type Reply = Transaction;
}

const TEXT: Parameter =
    Parameter::new("q", ParameterType::Text, "a text that any property contains");
const FIELDS: Parameter = Parameter::new(
    "qf",
    ParameterType::Texts("^[^:]+:.*$"),
    "`name:text`: only objects whose property, with dots for nesting, begins with the text",
);
const FROM: Parameter =
    Parameter::new("start_date", ParameterType::Moment, "created at this time or later");
const UNTIL: Parameter =
    Parameter::new("end_date", ParameterType::Moment, "created at this time or earlier");

/// Searches transactions; not in the two documents (service-facts, 44).
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct SearchTransactions;

impl Endpoint for SearchTransactions {
    const NAME: &'static str = "transaction.search";
    const METHOD: Method = Method::Get;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/transactions";
    const AUTH: Auth = Auth::SecretKey;
    const QUERY: &'static [Parameter] =
        &[PAGE, PAGE_SIZE, TEXT, FIELDS, ACCOUNT, FROM, UNTIL, ORDER];
    type Request = ();
    type Reply = Page<Transaction>;
}
