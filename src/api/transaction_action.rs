//! Actions on a transaction after its creation, and credits: money paid out without a charge.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::api::call::{ACCOUNT, PAGE, PAGE_SIZE, Page, endpoints, objects};
use crate::api::method_token::MethodRef;
use crate::api::rules::{
    AMOUNT_MAX, FieldProblem, FieldProblems, TRANSACTION_REFERENCE_LENGTH_MAX,
};
use crate::api::transaction::{NewSignature, Signature, Transaction};

/// Captures at once, which is the default.
pub const CAPTURE_NOW: &str = "IMMEDIATE";
/// Captures with the next daily run (service-facts, 46).
pub const CAPTURE_LATER: &str = "NEXT_AUTO_CAPTURE";
const CAPTURE_TIMES: [&str; 2] = [CAPTURE_NOW, CAPTURE_LATER];
objects! {
    /// The request that captures a hold (gateway-api, POST /v1/charges/{chargeId}/capture).
    #[schemars(extend("required" = ["amount"]))]
    pub struct NewCapture {
        /// Minor units; has to equal the authorised amount.
        #[schemars(range(min = 1, max = AMOUNT_MAX))]
        pub amount: Option<i64>,
        /// Three letters; the charge's by default (service-facts, 33).
        pub currency: Option<String>,
        /// At most 128 characters.
        #[schemars(length(max = TRANSACTION_REFERENCE_LENGTH_MAX))]
        pub reference: Option<String>,
        /// `IMMEDIATE` (the default) or `NEXT_AUTO_CAPTURE` (service-facts, 46).
        #[schemars(extend("enum" = ["IMMEDIATE", "NEXT_AUTO_CAPTURE"]))]
        pub capture_time: Option<String>,
        /// Minor units beside the amount; above 0 it needs a signature (service-facts, 47).
        #[schemars(range(min = 0, max = AMOUNT_MAX))]
        pub gratuity: Option<i64>,
        /// The payer's drawn signature (service-facts, 47).
        pub signature: Option<NewSignature>,
    }

    /// The request that refunds a charge, all of it or a part.
    #[schemars(extend("required" = ["amount"]))]
    pub struct NewRefund {
        /// Minor units; required.
        #[schemars(range(min = 1, max = AMOUNT_MAX))]
        pub amount: Option<i64>,
        /// Three letters; the charge's by default (service-facts, 33).
        pub currency: Option<String>,
        /// Another card or bank account of the same type, where the tenant allows it (service-facts, 54).
        pub method: Option<MethodRef>,
        /// At most 128 characters; not in the documents, but public clients read it (service-facts,
        /// 26c).
        #[schemars(length(max = TRANSACTION_REFERENCE_LENGTH_MAX))]
        pub reference: Option<String>,
        /// Any object; stored and returned (service-facts, 33).
        #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
        pub data: Option<Value>,
    }

    /// The request that voids a transaction before it is settled; every field may be left out.
    pub struct NewVoid {
        /// At most 128 characters; comes back as `void_reference`.
        #[schemars(length(max = TRANSACTION_REFERENCE_LENGTH_MAX))]
        pub reference: Option<String>,
    }

    /// The request that pays money out without a charge.
    #[schemars(extend("required" = ["amount", "method"]))]
    pub struct NewCredit {
        /// Minor units; required.
        #[schemars(range(min = 1, max = AMOUNT_MAX))]
        pub amount: Option<i64>,
        /// Three letters; the account's by default.
        pub currency: Option<String>,
        /// Payment method; required.
        pub method: Option<MethodRef>,
        /// Id of the account; the primary account of the method's type by default.
        pub account_id: Option<String>,
        /// Not documented for credits; stored where the service accepts it.
        pub reference: Option<String>,
    }
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
    problems.transaction_reference(new.reference.as_deref());
    let is_known = new.capture_time.as_deref().is_none_or(|word| CAPTURE_TIMES.contains(&word));
    problems.unless(is_known, "capture_time", "invalid", "Capture time is invalid");
    problems.into_list()
}

/// Returns every problem of a refund's own fields; another method has rules of its own.
pub fn refund_rules(new: &NewRefund) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    problems.require_amount("amount", "Amount", new.amount);
    problems.transaction_reference(new.reference.as_deref());
    problems.into_list()
}

/// Returns every problem of a void's own fields.
pub fn void_rules(new: &NewVoid) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    problems.transaction_reference(new.reference.as_deref());
    problems.into_list()
}

/// Returns every problem of a credit's own fields.
pub fn credit_rules(new: &NewCredit) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    problems.require_amount("amount", "Amount", new.amount);
    problems.require("method", "Payment method", new.method.is_some());
    problems.into_list()
}

endpoints! {
    /// Captures a hold (gateway-api, POST /v1/charges/{chargeId}/capture).
    CaptureCharge "charge.capture": Post Base "/v1/charges/{id}/capture" by SecretKey,
        NewCapture => Transaction;
    /// Lists holds that are neither captured nor voided, newest first (gateway-api, GET /v1/charges/holds).
    ListHolds "charge.holds": Get Base "/v1/charges/holds" by SecretKey,
        () => Page<Transaction>, [PAGE, PAGE_SIZE, ACCOUNT];
    /// Refunds a charge (gateway-api, POST /v1/charges/{chargeId}/refund).
    RefundCharge "charge.refund": Post Base "/v1/charges/{id}/refund" by SecretKey,
        NewRefund => Transaction;
    /// Voids a transaction before it is settled (gateway-api, POST
    /// /v1/transactions/{transactionId}/void).
    VoidTransaction "transaction.void": Post Base "/v1/transactions/{id}/void" by SecretKey,
        NewVoid => Transaction;
    /// Pays money out without a charge (gateway-api, POST /v1/credits).
    CreateCredit "credit.create": Post Base "/v1/credits" by SecretKey, NewCredit => Transaction;
    /// Stores a signature of a transaction (gateway-api, POST
    /// /v1/transactions/{transactionId}/sign).
    SignTransaction "transaction.sign": Post Base "/v1/transactions/{id}/sign" by SecretKey,
        NewSignature => SignedTransaction;
    /// Reads a signature; not in the two documents (service-facts, 48).
    GetSignature "signature.get": Get Base "/v1/signatures/{id}" by SecretKey, () => Signature;
}
