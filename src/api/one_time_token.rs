//! One-time tokens: payment details exchanged for an id that works once, for five minutes
//! (gateway-api, POST /v1/tokens).

use serde::{Deserialize, Serialize};

use crate::api::method::{CardType, MethodKind, MethodRef};
use crate::api::{Auth, Endpoint, Host, Method};

/// How long a token lives, in minutes (gateway-api, Limits).
pub const TOKEN_LIFE_MINUTES: i64 = 5;

/// A token as it is answered: masked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OneTimeToken {
    /// What `method` or `token_id` names.
    pub id: String,
    /// `card` or `bank`.
    #[serde(rename = "type")]
    pub kind: MethodKind,
    /// Masked card number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
    /// The brand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card_type: Option<CardType>,
    /// As given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exp_month: Option<i64>,
    /// As given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exp_year: Option<i64>,
    /// `***` when one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cvv: Option<String>,
    /// Masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing_number: Option<String>,
    /// Masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_number: Option<String>,
    /// As given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_type: Option<String>,
    /// As given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_holder_type: Option<String>,
    /// The bank.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bank_name: Option<String>,
    /// The holder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// An individual's given name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_name: Option<String>,
    /// An individual's family name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surname: Option<String>,
    /// Street line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address1: Option<String>,
    /// Second line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address2: Option<String>,
    /// City.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// State or province.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Postal code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub postal_code: Option<String>,
    /// Two letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// Telephone number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// E-mail address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Passed on to what is saved from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Passed on to what is saved from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Equal for equal numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Whatever else was sent along.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form_data: Option<serde_json::Value>,
}

/// Exchanges details (never an id) for a token.
#[derive(Debug, Clone, Copy)]
pub struct CreateToken;

impl Endpoint for CreateToken {
    const NAME: &'static str = "token.create";
    const METHOD: Method = Method::Post;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/tokens";
    const AUTH: Auth = Auth::PublicKey;
    type Request = MethodRef;
    type Reply = OneTimeToken;
}

/// Reads a token that has not been used, to fill a form again.
#[derive(Debug, Clone, Copy)]
pub struct GetToken;

impl Endpoint for GetToken {
    const NAME: &'static str = "token.get";
    const METHOD: Method = Method::Get;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/tokens/{id}";
    const AUTH: Auth = Auth::SecretKey;
    type Request = ();
    type Reply = OneTimeToken;
}
