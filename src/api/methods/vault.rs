//! A contact's own payment methods, in the vault (service-facts, 85; gateway-api: a charge's
//! `method` may be the id of a payment method).
//!
//! The documents mention the vault and do not show it. Its path and the fields of the request are
//! from public material; the answer is our own choice (docs/design/assumptions.md); the documents win.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::method::PaymentMethod;
use crate::api::audit::Audit;
use crate::api::call::endpoints;
use crate::api::rules::{FieldProblem, FieldProblems};

/// A payment method to store for a contact.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["payment_type", "one_time_token"]))]
pub struct NewVaultMethod {
    /// `credit_card` or `bank_account`.
    #[schemars(extend("enum" = ["credit_card", "bank_account"]))]
    pub payment_type: String,
    /// One-time token with the details; the service consumes it.
    #[schemars(length(min = 1))]
    pub one_time_token: String,
    /// Permitted uses: `all`.
    pub authorized_uses: Vec<String>,
    /// True for a test method.
    pub test_mode: Option<bool>,
}

/// A contact's stored payment method.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct VaultMethod {
    /// `pm_…`; the id for `method` in a charge.
    pub id: String,
    /// Creation of the method.
    pub created: Option<Audit>,
    /// Last change of the method.
    pub modified: Option<Audit>,
    /// Id of the contact that owns it.
    pub contact_id: String,
    /// Payment type, as requested.
    pub payment_type: String,
    /// Permitted uses, as requested.
    pub authorized_uses: Vec<String>,
    /// True for a test method.
    pub test_mode: bool,
    /// The details, masked.
    pub method: Option<PaymentMethod>,
    /// `payment_method`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// Returns every problem of a request.
pub fn rules(new: &NewVaultMethod) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    match new.payment_type.as_str() {
        "credit_card" | "bank_account" => {}
        "" => problems.add("payment_type", "not_blank", "Payment type cannot be blank"),
        _ => problems.add("payment_type", "invalid", "Payment type is invalid"),
    }
    if new.one_time_token.is_empty() {
        problems.add("one_time_token", "not_blank", "One-time token cannot be blank");
    }
    problems.into_list()
}

endpoints! {
    /// Stores a payment method for a contact.
    CreateVaultMethod "vault_method.create":
        Post Base "/contacts/{contact_id}/payment-methods" by Payments,
        NewVaultMethod => VaultMethod;
}
