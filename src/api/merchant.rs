//! The merchant as its own key sees it (service-facts, 67; not in the two documents).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::{Auth, Call, Endpoint, Host, Method};
use crate::api::rules::NAME_LENGTH_MAX;
use crate::api::wire::Timestamp;

/// A merchant and its accounts of the key's mode.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Merchant {
    /// 22 characters.
    pub id: String,
    /// Creation of the merchant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Timestamp>,
    /// Last change of the merchant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<Timestamp>,
    /// Name of the merchant.
    pub name: String,
    /// The public key of the key's mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_key: Option<String>,
    /// Name of the contact person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact_name: Option<String>,
    /// E-mail address of the contact person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact_email: Option<String>,
    /// Telephone number of the contact person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact_phone: Option<String>,
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
    /// IANA or Rails-style zone name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// Address ranges that may call the API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_allowed_ip_address_ranges: Option<String>,
    /// Webhook URLs for live events, comma-separated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live_events_urls: Option<String>,
    /// Webhook URLs for test events, comma-separated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_events_urls: Option<String>,
    /// Card accounts.
    pub merchant_accounts: Vec<MerchantAccount>,
    /// Electronic-check accounts.
    pub ach_accounts: Vec<MerchantAccount>,
}

/// Defines a struct of an account: its own fields, and between them the payment settings that both
/// the answer and a change share.
macro_rules! account {
    ($(#[$about:meta])* $name:ident { $($before:tt)* } { $($after:tt)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default)]
        pub struct $name {
            $($before)*
            /// When the CVV check refuses a charge; cards.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub cvv_policy: Option<String>,
            /// When the address check refuses a charge; cards.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub avs_policy: Option<String>,
            /// True where a matching CVV outweighs a failed address check; cards.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub ignore_avs_failure_if_cvv_match: Option<bool>,
            /// Required fields of a payment, comma-separated; cards.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub required_payment_fields: Option<String>,
            /// When the CVV check refuses a swiped card; cards.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub swipe_cvv_policy: Option<String>,
            /// When the address check refuses a swiped card; cards.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub swipe_avs_policy: Option<String>,
            /// True where a matching CVV of a swiped card outweighs a failed address check; cards.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub swipe_ignore_avs_failure_if_cvv_match: Option<bool>,
            /// Required fields of a payment with a swiped card, comma-separated; cards.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub swipe_required_payment_fields: Option<String>,
            /// Allowed countries, comma-separated; empty: all.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub transaction_allowed_countries: Option<String>,
            /// Accepted card types, comma-separated, or `*`; cards.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub accepted_card_types: Option<String>,
            $($after)*
        }
    };
}

account! {
    /// One account of the merchant (service-facts, 69).
    MerchantAccount {
        /// The id for `account_id` in requests.
        pub id: String,
        /// Creation of the account.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub created: Option<Timestamp>,
        /// Last change of the account.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub modified: Option<Timestamp>,
        /// `ACTIVE`, `INACTIVE` or `DELETED`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub status: Option<String>,
        /// Name of the account.
        pub name: String,
        /// True for the default account of its type.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub primary: Option<bool>,
        /// Three letters.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub currency: Option<String>,
        /// True for a trust account.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub trust_account: Option<bool>,
    } {
        /// Routing number, masked; electronic checks.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub routing_number: Option<String>,
        /// Account number, masked; electronic checks.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub account_number: Option<String>,
        /// `CHECKING` or `SAVINGS`; electronic checks.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub account_type: Option<String>,
        /// Name of the bank; electronic checks.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub bank_name: Option<String>,
    }
}

account! {
    /// A merchant's change of an account: absent fields stay (service-facts, 69 and 71).
    AccountChange {
        /// Name of the account.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
        /// Makes this account the default of its type; only `true` has an effect, since one account
        /// always is.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub primary: Option<bool>,
    } {}
}

/// Reads the merchant; clients test a key with this call (service-facts, 67).
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct GetMerchant;

impl Endpoint for GetMerchant {
    const NAME: &'static str = "merchant.get";
    const METHOD: Method = Method::Get;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/merchant";
    const AUTH: Auth = Auth::SecretKey;
    type Request = ();
    type Reply = Merchant;
}

/// A merchant's change of itself: absent fields stay (service-facts, 67, 68 and 71).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MerchantChange {
    /// Name of the merchant; never blank.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = NAME_LENGTH_MAX), regex(pattern = r"\S"))]
    pub name: Option<String>,
    /// Name of the contact person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact_name: Option<String>,
    /// E-mail address of the contact person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact_email: Option<String>,
    /// Telephone number of the contact person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact_phone: Option<String>,
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
    /// Address ranges that may call the API, comma-separated; empty: every address may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_allowed_ip_address_ranges: Option<String>,
    /// Webhook URLs for live events, comma-separated; empty: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live_events_urls: Option<String>,
    /// Webhook URLs for test events, comma-separated; empty: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_events_urls: Option<String>,
}

/// Changes the merchant.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct PatchMerchant;

impl Endpoint for PatchMerchant {
    const NAME: &'static str = "merchant.change";
    const METHOD: Method = Method::Patch;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/merchant";
    const AUTH: Auth = Auth::SecretKey;
    type Request = MerchantChange;
    type Reply = Merchant;
}

/// Changes a card account.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct PatchAccount;

impl Endpoint for PatchAccount {
    const NAME: &'static str = "account.change";
    const METHOD: Method = Method::Patch;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/accounts/{id}";
    const AUTH: Auth = Auth::SecretKey;
    type Request = AccountChange;
    type Reply = MerchantAccount;
}

/// Changes an eCheck account.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct PatchAchAccount;

impl Endpoint for PatchAchAccount {
    const NAME: &'static str = "ach_account.change";
    const METHOD: Method = Method::Patch;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/ach-accounts/{id}";
    const AUTH: Auth = Auth::SecretKey;
    type Request = AccountChange;
    type Reply = MerchantAccount;
}

/// The parts of a merchant's test data to clear; neither: all of it (service-facts, 70).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Purge {
    /// Transactions, recurring charges and their occurrences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete_transactions: Option<bool>,
    /// Saved cards and banks, and tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete_payment_methods: Option<bool>,
}

/// Clears test data; answers 204.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct PurgeTestData;

impl Endpoint for PurgeTestData {
    const NAME: &'static str = "merchant.purge";
    const METHOD: Method = Method::Post;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/merchant/purge-test-data";
    const AUTH: Auth = Auth::SecretKey;
    type Request = Purge;
    type Reply = ();
}

/// Returns whether 204 and no body means success, which holds for one path alone (service-facts,
/// 4).
pub fn allows_empty_reply(call: &Call) -> bool {
    call.endpoint == PurgeTestData::NAME
}
