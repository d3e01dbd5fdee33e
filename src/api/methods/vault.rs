//! A contact's own payment methods, in the vault (service-facts, 85; gateway-api: a charge's
//! `method` may be the id of a payment method).
//!
//! The documents mention the vault and do not show it. Its path and the fields of the request are
//! from public material; the answer is our own choice (docs/design/assumptions.md); the documents win.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::method::PaymentMethod;
use crate::api::audit::Audit;
use crate::api::call::{Auth, Endpoint, Host, Method};
use crate::api::rules::{FieldProblem, FieldProblems};

/// A payment method to store for a contact.
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_mode: Option<bool>,
}

/// A contact's stored payment method.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct VaultMethod {
    /// `pm_…`; the id for `method` in a charge.
    pub id: String,
    /// Creation of the method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Audit>,
    /// Last change of the method.
    #[serde(skip_serializing_if = "Option::is_none")]
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
    #[serde(skip_serializing_if = "Option::is_none")]
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

/// Stores a payment method for a contact.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct CreateVaultMethod;

impl Endpoint for CreateVaultMethod {
    const NAME: &'static str = "vault_method.create";
    const METHOD: Method = Method::Post;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/contacts/{contact_id}/payment-methods";
    const AUTH: Auth = Auth::Payments;
    type Request = NewVaultMethod;
    type Reply = VaultMethod;
}
