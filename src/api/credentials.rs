//! A merchant's gateway keys (partner-api, GET /gateway-credentials).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::{Auth, Endpoint, Host, Method};
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

/// A merchant's data after it authorised the partner.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct User {
    /// Given name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_name: Option<String>,
    /// Family name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_name: Option<String>,
    /// E-mail address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// True for the merchant's owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<bool>,
    /// `admin`, `charge`, `schedule_charge`, `refund`, `tag_transactions`, `view_reports`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub abilities: Vec<String>,
}

/// The merchant as the partner sees it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MerchantProfile {
    /// Name of the merchant.
    pub name: String,
    /// Street line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Second line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_address: Option<String>,
    /// City.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// State or province.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Postal code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub postal_code: Option<String>,
    /// Two-letter country.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// Telephone number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// IANA or Rails-style zone name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// Web site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website: Option<String>,
    /// E-mail address for payers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub support_email: Option<String>,
    /// Telephone number for payers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub support_phone: Option<String>,
    /// Address that is notified of payments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email_success_to: Option<String>,
    /// Address that is notified of failures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email_failure_to: Option<String>,
    /// True where every payment must carry a reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_required: Option<bool>,
    /// The merchant's name for the reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_label: Option<String>,
}

/// One account with its keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Account {
    /// Name of the account.
    pub name: String,
    /// Card or electronic check.
    #[serde(rename = "type")]
    pub kind: AccountType,
    /// Three letters.
    pub currency: String,
    /// True where the account may carry recurring charges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recurring_charges_enabled: Option<bool>,
    /// The value for `account_id` in requests.
    pub id: String,
    /// The merchant's public key, 24 characters.
    pub public_key: String,
    /// The secret key for the gateway.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "wire::serialize_exposed")]
    pub secret_key: Option<Secret>,
    /// True for a trust account. A string on the wire.
    #[serde(with = "wire::text_bool")]
    #[schemars(with = "String", extend("enum" = ["true", "false"]))]
    pub trust_account: bool,
}

/// Reads the keys of the token's merchant.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct GetCredentials;

impl Endpoint for GetCredentials {
    const NAME: &'static str = "credentials.get";
    const METHOD: Method = Method::Get;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/gateway-credentials";
    const AUTH: Auth = Auth::Payments;
    type Request = ();
    type Reply = GatewayCredentials;
}
