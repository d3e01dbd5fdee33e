//! Withdrawal of a merchant's authorisation (partner-api, deauthorize application).

use schemars::JsonSchema;

use super::call::{Auth, Endpoint, Host, Method};

/// Revokes a merchant's authorisation of this partner: every key and token of it ends. Answers 200
/// with an empty body.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct Deauthorise;

impl Endpoint for Deauthorise {
    const NAME: &'static str = "merchant.deauthorise";
    const METHOD: Method = Method::Delete;
    const HOST: Host = Host::Web;
    const PATH: &'static str = "/api/v1/merchants/{public_key}/deauthorize_application";
    const AUTH: Auth = Auth::Tenant;
    type Request = ();
    type Reply = ();
}
