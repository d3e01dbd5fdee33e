//! One-time tokens: payment details exchanged for an id that works once, for five minutes
//! (gateway-api, POST /v1/tokens).

use schemars::JsonSchema;

use super::bank::NewBank;
use super::card::NewCard;
use super::method::PaymentMethod;
use crate::api::call::endpoints;

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

endpoints! {
    /// Exchanges details (never an id) for a token.
    CreateToken "token.create": Post Base "/v1/tokens" by PublicKey, Details => PaymentMethod;
    /// Reads an unused token, to fill a form again.
    GetToken "token.get": Get Base "/v1/tokens/{id}" by SecretKey, () => PaymentMethod;
}
