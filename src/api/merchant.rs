//! The merchant as its own key sees it (service-facts, 67; not in the two documents).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::rules::NAME_LENGTH_MAX;
use crate::api::wire::Timestamp;
use crate::api::{Auth, Endpoint, Host, Method};

/// A merchant and its accounts of the key's mode.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Merchant {
    /// 22 characters.
    pub id: String,
    /// Its making.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Timestamp>,
    /// Its last change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<Timestamp>,
    /// Its name.
    pub name: String,
    /// The public key of the key's mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_key: Option<String>,
    /// Whom to ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact_name: Option<String>,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact_email: Option<String>,
    /// Where.
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
    /// Who may call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_allowed_ip_address_ranges: Option<String>,
    /// Webhook URLs, comma-separated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live_events_urls: Option<String>,
    /// Webhook URLs, comma-separated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_events_urls: Option<String>,
    /// Card accounts.
    pub merchant_accounts: Vec<MerchantAccount>,
    /// Electronic-check accounts.
    pub ach_accounts: Vec<MerchantAccount>,
}

/// Makes a struct of an account: its own fields, and between them what both the answer and a change say of the payments that
/// the account takes.
macro_rules! account {
    ($(#[$about:meta])* $name:ident { $($before:tt)* } { $($after:tt)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default)]
        pub struct $name {
            $($before)*
            /// When a CVV refuses a charge; cards.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub cvv_policy: Option<String>,
            /// When an address refuses a charge; cards.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub avs_policy: Option<String>,
            /// Does a CVV that matches make good an address that does not? Cards.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub ignore_avs_failure_if_cvv_match: Option<bool>,
            /// Comma-separated; cards.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub required_payment_fields: Option<String>,
            /// When a CVV refuses a swiped card; cards.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub swipe_cvv_policy: Option<String>,
            /// When an address refuses a swiped card; cards.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub swipe_avs_policy: Option<String>,
            /// The same of a swiped card; cards.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub swipe_ignore_avs_failure_if_cvv_match: Option<bool>,
            /// Comma-separated, of a swiped card; cards.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub swipe_required_payment_fields: Option<String>,
            /// Comma-separated; empty: all.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub transaction_allowed_countries: Option<String>,
            /// Comma-separated or `*`; cards.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub accepted_card_types: Option<String>,
            $($after)*
        }
    };
}

account! {
    /// One account of the merchant (service-facts, 69).
    MerchantAccount {
        /// The id that `account_id` names.
        pub id: String,
        /// Its making.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub created: Option<Timestamp>,
        /// Its last change.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub modified: Option<Timestamp>,
        /// `ACTIVE`, `INACTIVE` or `DELETED`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub status: Option<String>,
        /// Its name.
        pub name: String,
        /// Taken where no account is named?
        #[serde(skip_serializing_if = "Option::is_none")]
        pub primary: Option<bool>,
        /// Three letters.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub currency: Option<String>,
        /// A trust account?
        #[serde(skip_serializing_if = "Option::is_none")]
        pub trust_account: Option<bool>,
    } {
        /// Masked; electronic checks.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub routing_number: Option<String>,
        /// Masked; electronic checks.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub account_number: Option<String>,
        /// `CHECKING` or `SAVINGS`; electronic checks.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub account_type: Option<String>,
        /// The bank; electronic checks.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub bank_name: Option<String>,
    }
}

account! {
    /// A merchant's change of an account: absent fields stay (service-facts, 69 and 71).
    AccountChange {
        /// Its name.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
        /// Taken where no account is named? Only `true` changes anything: one account of a type is.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub primary: Option<bool>,
    } {}
}

/// How clients test a key (service-facts, 67).
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

/// What a merchant changes of itself: what is absent stays (service-facts, 67, 68 and 71).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MerchantChange {
    /// Its name; never blank.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = NAME_LENGTH_MAX), regex(pattern = r"\S"))]
    pub name: Option<String>,
    /// Whom to ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact_name: Option<String>,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact_email: Option<String>,
    /// Where.
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
    /// Who may call: ranges, separated by commas; empty: everybody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_allowed_ip_address_ranges: Option<String>,
    /// Webhook URLs, comma-separated; empty: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live_events_urls: Option<String>,
    /// Webhook URLs, comma-separated; empty: none.
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

/// What is cleared of a merchant's test data; none of the two: everything (service-facts, 70).
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
