//! One-time tokens: payment details exchanged for an id that works once, for five minutes
//! (gateway-api, POST /v1/tokens).

use crate::api::method::{MethodRef, PaymentMethod};
use crate::api::{Auth, Endpoint, Host, Method};

/// How long a token lives, in minutes (gateway-api, Limits).
pub const TOKEN_LIFE_MINUTES: i64 = 5;

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
    type Reply = PaymentMethod;
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
    type Reply = PaymentMethod;
}
