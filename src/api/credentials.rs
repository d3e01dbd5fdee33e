//! Credentials: a merchant's gateway keys, and bearer tokens (partner-api, GET
//! /gateway-credentials, POST /oauth/token).

use crate::api::call::{endpoints, objects};
use crate::api::wire;
use crate::base::secret::Secret;

wire::words! {
    /// Payment type of an account.
    AccountType {
        /// Cards.
        Card = "MerchantAccount",
        /// Electronic checks.
        Check = "AchAccount",
    }
}

objects! {
    /// A merchant's data after it authorised the partner.
    pub struct GatewayCredentials {
        /// The partner application's name.
        pub application: String,
        /// The person who authorised.
        pub user: User,
        /// The merchant that was authorised.
        pub merchant: MerchantProfile,
        /// Accounts of test-mode keys.
        pub test_accounts: Vec<Account>,
        /// Accounts of live-mode keys; may be empty.
        pub live_accounts: Vec<Account>,
    }

    /// The person who authorised the partner.
    pub struct User {
        /// Given name.
        pub first_name: Option<String>,
        /// Family name.
        pub last_name: Option<String>,
        /// E-mail address.
        pub email: Option<String>,
        /// True for the merchant's owner.
        pub owner: Option<bool>,
        /// `admin`, `charge`, `schedule_charge`, `refund`, `tag_transactions`, `view_reports`.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub abilities: Vec<String>,
    }

    /// The merchant as the partner sees it.
    pub struct MerchantProfile {
        /// Name of the merchant.
        pub name: String,
        /// Street line.
        pub address: Option<String>,
        /// Second line.
        pub additional_address: Option<String>,
        /// City.
        pub city: Option<String>,
        /// State or province.
        pub state: Option<String>,
        /// Postal code.
        pub postal_code: Option<String>,
        /// Two-letter country.
        pub country: Option<String>,
        /// Telephone number.
        pub phone: Option<String>,
        /// IANA or Rails-style zone name.
        pub timezone: Option<String>,
        /// Web site.
        pub website: Option<String>,
        /// E-mail address for payers.
        pub support_email: Option<String>,
        /// Telephone number for payers.
        pub support_phone: Option<String>,
        /// Address that is notified of payments.
        pub email_success_to: Option<String>,
        /// Address that is notified of failures.
        pub email_failure_to: Option<String>,
        /// True where every payment must carry a reference.
        pub reference_required: Option<bool>,
        /// The merchant's name for the reference.
        pub reference_label: Option<String>,
    }

    /// One account with its keys.
    pub struct Account {
        /// Name of the account.
        pub name: String,
        /// Card or electronic check.
        #[serde(rename = "type")]
        pub kind: AccountType,
        /// Three letters.
        pub currency: String,
        /// True where the account may carry recurring charges.
        pub recurring_charges_enabled: Option<bool>,
        /// The value for `account_id` in requests.
        pub id: String,
        /// The merchant's public key, 24 characters.
        pub public_key: String,
        /// The secret key for the gateway.
        #[serde(serialize_with = "wire::serialize_exposed")]
        pub secret_key: Option<Secret>,
        /// True for a trust account. A string on the wire.
        #[serde(with = "wire::text_bool")]
        #[schemars(with = "String", extend("enum" = ["true", "false"]))]
        pub trust_account: bool,
    }

    /// Either grant of the token endpoint.
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
    pub struct AccessToken {
        /// 64 alphanumerics.
        #[serde(serialize_with = "wire::serialize_exposed")]
        pub access_token: Option<Secret>,
        /// `bearer`.
        pub token_type: String,
        /// `tenant` or `payments`.
        pub scope: String,
        /// Unix time, seconds.
        pub created_at: i64,
    }
}

/// The scope of a token that submits applications and deauthorises.
pub const SCOPE_TENANT: &str = "tenant";
/// The scope of a token that acts for one merchant.
pub const SCOPE_PAYMENTS: &str = "payments";

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
}

endpoints! {
    /// Reads the keys of the token's merchant.
    GetCredentials "credentials.get": Get Base "/gateway-credentials" by Payments,
        () => GatewayCredentials;
    /// Gets a token; the credentials are in the body, without an `Authorization` header.
    ExchangeToken "token.exchange": Post Base "/oauth/token" by None, TokenRequest => AccessToken;
}
