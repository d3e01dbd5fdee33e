//! Payment details in a request, and the ids that replace them: a saved method, a one-time token,
//! a method in a contact's vault (gateway-api, Payment method, POST /v1/tokens; service-facts, 85).
//!
//! A one-time token works once, for five minutes. The documents mention the vault and do not show
//! it. Its path and the fields of the request are from public material; the answer is our own
//! choice (docs/design/assumptions.md); the documents win.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::api::call::{endpoints, objects};
use crate::api::method::PaymentMethod;
use crate::api::rules::{FieldProblem, FieldProblems};
use crate::api::saved_method::{NewBank, NewCard};
use crate::api::wire::Audit;

/// A method in a request: the id of a saved method, or the details themselves.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum MethodRef {
    /// A saved card, saved bank, payment method or one-time token.
    Id(String),
    /// A card, inline.
    Card(Box<NewCard>),
    /// A bank account, inline.
    Bank(Box<NewBank>),
}

impl JsonSchema for MethodRef {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "MethodRef".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let card = generator.subschema_for::<NewCard>();
        let bank = generator.subschema_for::<NewBank>();
        json_schema!({"anyOf": [{"type": "string", "minLength": 1}, card, bank]})
    }
}

impl<'de> Deserialize<'de> for MethodRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let value = Value::deserialize(deserializer)?;
        if let Value::String(id) = value {
            return Ok(Self::Id(id));
        }
        let method = match value.get("type").and_then(Value::as_str) {
            Some("bank") => serde_json::from_value(value).map(Self::Bank),
            _ => serde_json::from_value(value).map(Self::Card),
        };
        method.map_err(D::Error::custom)
    }
}

/// Lifetime of a token, in minutes (gateway-api, Limits).
pub const TOKEN_LIFE_MINUTES: i64 = 5;

/// Payment details that a token is made of.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub enum Details {
    /// Details of a card.
    Card(Box<NewCard>),
    /// Details of a bank account.
    Bank(Box<NewBank>),
}

objects! {
    /// A payment method to store for a contact.
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
}

/// Returns every problem of a request.
pub fn vault_rules(new: &NewVaultMethod) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    match new.payment_type.as_str() {
        "credit_card" | "bank_account" => {}
        "" => problems.add("payment_type", "not_blank", "Payment type cannot be blank"),
        _ => problems.add("payment_type", "invalid", "Payment type is invalid"),
    }
    let (has_token, text) = (!new.one_time_token.is_empty(), "One-time token cannot be blank");
    problems.unless(has_token, "one_time_token", "not_blank", text);
    problems.into_list()
}

endpoints! {
    /// Exchanges details (never an id) for a token.
    CreateToken "token.create": Post Base "/v1/tokens" by PublicKey, Details => PaymentMethod;
    /// Reads an unused token, to fill a form again.
    GetToken "token.get": Get Base "/v1/tokens/{id}" by SecretKey, () => PaymentMethod;
    /// Stores a payment method for a contact.
    CreateVaultMethod "vault_method.create":
        Post Base "/contacts/{contact_id}/payment-methods" by Payments,
        NewVaultMethod => VaultMethod;
}
