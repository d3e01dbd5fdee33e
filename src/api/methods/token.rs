//! Bearer tokens (partner-api, POST /oauth/token).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::api::call::endpoints;
use crate::api::wire;
use crate::base::secret::Secret;

/// The scope of a token that submits applications and deauthorises.
pub const SCOPE_TENANT: &str = "tenant";
/// The scope of a token that acts for one merchant.
pub const SCOPE_PAYMENTS: &str = "payments";

/// Either grant of the token endpoint.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["client_id", "client_secret", "grant_type"]))]
pub struct TokenRequest {
    /// The partner application's id, 64 alphanumerics.
    pub client_id: String,
    /// The partner application's secret, 64 alphanumerics.
    #[serde(serialize_with = "wire::serialize_exposed")]
    pub client_secret: Option<Secret>,
    /// `client_credentials` or `authorization_code`.
    #[schemars(extend("enum" = ["client_credentials", "authorization_code"]))]
    pub grant_type: String,
    /// `tenant` or `payments`; a code exchange without it occurs (service-facts, 80).
    #[schemars(extend("enum" = ["tenant", "payments"]))]
    pub scope: Option<String>,
    /// Redirect address configured on the partner application; with a code.
    pub redirect_uri: Option<String>,
    /// The authorization code; used once.
    #[serde(serialize_with = "wire::serialize_exposed")]
    pub code: Option<Secret>,
}

/// The answer: a token that is valid until it is revoked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AccessToken {
    /// 64 alphanumerics.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "wire::serialize_exposed")]
    pub access_token: Option<Secret>,
    /// `bearer`.
    pub token_type: String,
    /// `tenant` or `payments`.
    pub scope: String,
    /// Unix time, seconds.
    pub created_at: i64,
}

impl TokenRequest {
    /// Makes the request of a `tenant` token.
    pub fn tenant(client_id: &str, client_secret: Secret) -> Self {
        Self {
            client_id: client_id.to_owned(),
            client_secret: Some(client_secret),
            grant_type: "client_credentials".to_owned(),
            scope: Some(SCOPE_TENANT.to_owned()),
            ..Self::default()
        }
    }

    /// Makes the exchange of an authorization code for a merchant's `payments` token.
    pub fn exchange(
        client_id: &str,
        client_secret: Secret,
        redirect_uri: &str,
        code: Secret,
    ) -> Self {
        Self {
            client_id: client_id.to_owned(),
            client_secret: Some(client_secret),
            grant_type: "authorization_code".to_owned(),
            scope: Some(SCOPE_PAYMENTS.to_owned()),
            redirect_uri: Some(redirect_uri.to_owned()),
            code: Some(code),
        }
    }
}

endpoints! {
    /// Gets a token; the credentials are in the body, without an `Authorization` header.
    ExchangeToken "token.exchange": Post Base "/oauth/token" by None, TokenRequest => AccessToken;
}
