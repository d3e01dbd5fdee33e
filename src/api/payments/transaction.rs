//! Transactions: movements of money (gateway-api, Transaction).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::schedule::{Recur, recur_rules};
use super::signature;
use crate::api::call::endpoints;
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
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
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
    pub data: Option<serde_json::Value>,
    /// Minor units beside the amount; above 0 it needs a signature (service-facts, 33 and 47).
    #[schemars(range(min = 0, max = AMOUNT_MAX))]
    pub gratuity: Option<i64>,
    /// The payer's drawn signature (service-facts, 33).
    pub signature: Option<signature::NewSignature>,
    /// The recurring charge that follows; needs `auto_capture`.
    pub recur: Option<Recur>,
}

/// A charge, refund or credit.
#[skip_serializing_none]
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
    pub data: Option<serde_json::Value>,
    /// Refunds; on a charge read by id, once it has some.
    pub refunds: Option<Vec<Transaction>>,
    /// Payment method, masked.
    pub method: Option<PaymentMethod>,
    /// Such as `MATCHED`.
    pub cvv_result: Option<String>,
    /// Such as `ADDRESS_AND_POSTAL_CODE`.
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

endpoints! {
    /// Authorises a payment.
    CreateCharge "charge.create": Post Base "/v1/charges" by SecretKey, NewCharge => Transaction;
    /// Reads any transaction; not in the two documents (service-facts, 43).
    GetTransaction "transaction.get": Get Base "/v1/transactions/{id}" by SecretKey,
        () => Transaction;
    /// Searches transactions; not in the two documents (service-facts, 44).
    SearchTransactions "transaction.search": Get Base "/v1/transactions" by SecretKey,
        () => Page<Transaction>, [PAGE, PAGE_SIZE, TEXT, FIELDS, ACCOUNT, FROM, UNTIL, ORDER];
}
