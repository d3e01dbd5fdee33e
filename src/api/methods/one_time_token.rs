//! One-time tokens: payment details exchanged for an id that works once, for five minutes
//! (gateway-api, POST /v1/tokens).

use schemars::JsonSchema;

use super::bank::NewBank;
use super::card::NewCard;
use super::method::PaymentMethod;
use crate::api::call::{Auth, Endpoint, Host, Method};

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

/// Exchanges details (never an id) for a token.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct CreateToken;

impl Endpoint for CreateToken {
    const NAME: &'static str = "token.create";
    const METHOD: Method = Method::Post;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/tokens";
    const AUTH: Auth = Auth::PublicKey;
    type Request = Details;
    type Reply = PaymentMethod;
}

/// Reads an unused token, to fill a form again.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct GetToken;

impl Endpoint for GetToken {
    const NAME: &'static str = "token.get";
    const METHOD: Method = Method::Get;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/tokens/{id}";
    const AUTH: Auth = Auth::SecretKey;
    type Request = ();
    type Reply = PaymentMethod;
}
