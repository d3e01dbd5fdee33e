//! The merchant: as its own key sees it (service-facts, 67; not in the two documents), its deposit
//! accounts for the money of invoices, and the withdrawal of its authorisation (partner-api, Bank
//! account, deauthorize application).

use crate::api::call::{Call, Endpoint, endpoints, objects};
use crate::api::rules::NAME_LENGTH_MAX;
use crate::api::wire::Timestamp;

objects! {
    /// A merchant and its accounts of the key's mode.
    pub struct Merchant {
        /// 22 characters.
        pub id: String,
        /// Creation of the merchant.
        pub created: Option<Timestamp>,
        /// Last change of the merchant.
        pub modified: Option<Timestamp>,
        /// Name of the merchant.
        pub name: String,
        /// The public key of the key's mode.
        pub public_key: Option<String>,
        /// Name of the contact person.
        pub contact_name: Option<String>,
        /// E-mail address of the contact person.
        pub contact_email: Option<String>,
        /// Telephone number of the contact person.
        pub contact_phone: Option<String>,
        /// Street line.
        pub address1: Option<String>,
        /// Second line.
        pub address2: Option<String>,
        /// City.
        pub city: Option<String>,
        /// State or province.
        pub state: Option<String>,
        /// Postal code.
        pub postal_code: Option<String>,
        /// Two letters.
        pub country: Option<String>,
        /// IANA or Rails-style zone name.
        pub timezone: Option<String>,
        /// Address ranges that may call the API.
        pub api_allowed_ip_address_ranges: Option<String>,
        /// Webhook URLs for live events, comma-separated.
        pub live_events_urls: Option<String>,
        /// Webhook URLs for test events, comma-separated.
        pub test_events_urls: Option<String>,
        /// Card accounts.
        pub merchant_accounts: Vec<MerchantAccount>,
        /// Electronic-check accounts.
        pub ach_accounts: Vec<MerchantAccount>,
    }

    /// A merchant's change of itself: absent fields stay (service-facts, 67, 68 and 71).
    pub struct MerchantChange {
        /// Name of the merchant; never blank.
        #[schemars(length(min = 1, max = NAME_LENGTH_MAX), regex(pattern = r"\S"))]
        pub name: Option<String>,
        /// Name of the contact person.
        pub contact_name: Option<String>,
        /// E-mail address of the contact person.
        pub contact_email: Option<String>,
        /// Telephone number of the contact person.
        pub contact_phone: Option<String>,
        /// Street line.
        pub address1: Option<String>,
        /// Second line.
        pub address2: Option<String>,
        /// City.
        pub city: Option<String>,
        /// State or province.
        pub state: Option<String>,
        /// Postal code.
        pub postal_code: Option<String>,
        /// Two letters.
        pub country: Option<String>,
        /// Address ranges that may call the API, comma-separated; empty: every address may.
        pub api_allowed_ip_address_ranges: Option<String>,
        /// Webhook URLs for live events, comma-separated; empty: none.
        pub live_events_urls: Option<String>,
        /// Webhook URLs for test events, comma-separated; empty: none.
        pub test_events_urls: Option<String>,
    }

    /// The parts of a merchant's test data to clear; neither: all of it (service-facts, 70).
    pub struct Purge {
        /// Transactions, recurring charges and their occurrences.
        pub delete_transactions: Option<bool>,
        /// Saved cards and banks, and tokens.
        pub delete_payment_methods: Option<bool>,
    }

    /// A deposit account; an invoice names its id.
    pub struct BankAccount {
        /// `bank_…`.
        pub id: String,
        /// The merchant's name for the account.
        pub name: String,
        /// The bank's name.
        pub bank_name: Option<String>,
        /// True for a trust account.
        pub trust: bool,
        /// The masked account number.
        pub account_id: Option<String>,
        /// Three letters.
        pub currency: Option<String>,
        /// The accounts that take payments into it.
        pub processing_accounts: Vec<ProcessingAccount>,
    }

    /// A gateway account that takes payments into a bank account.
    pub struct ProcessingAccount {
        /// Id of the gateway account.
        pub id: String,
        /// Name of the gateway account.
        pub name: String,
        /// Comma-separated, such as `cvv,postal_code`.
        pub required_payment_fields: Option<String>,
        /// Comma-separated card brands.
        pub accepted_card_types: Option<String>,
        /// Such as `OPTIONAL`.
        pub cvv_policy: Option<String>,
        /// Such as `SUBMIT_IGNORE_RESULT`.
        pub avs_policy: Option<String>,
        /// The CVV policy for swiped cards.
        pub swipe_cvv_policy: Option<String>,
        /// The AVS policy for swiped cards.
        pub swipe_avs_policy: Option<String>,
        /// The required payment fields for swiped cards.
        pub swipe_required_payment_fields: Option<String>,
        /// `card`.
        #[serde(rename = "type")]
        pub kind: String,
    }
}

/// Defines a struct of an account: its own fields, and between them the payment settings that both
/// the answer and a change share.
macro_rules! account {
    ($(#[$about:meta])* $name:ident { $($before:tt)* } { $($after:tt)* }) => {
        objects! {
            $(#[$about])*
            pub struct $name {
                $($before)*
                /// When the CVV check refuses a charge; cards.
                pub cvv_policy: Option<String>,
                /// When the address check refuses a charge; cards.
                pub avs_policy: Option<String>,
                /// True where a matching CVV outweighs a failed address check; cards.
                pub ignore_avs_failure_if_cvv_match: Option<bool>,
                /// Required fields of a payment, comma-separated; cards.
                pub required_payment_fields: Option<String>,
                /// When the CVV check refuses a swiped card; cards.
                pub swipe_cvv_policy: Option<String>,
                /// When the address check refuses a swiped card; cards.
                pub swipe_avs_policy: Option<String>,
                /// True where a matching CVV of a swiped card outweighs a failed address check; cards.
                pub swipe_ignore_avs_failure_if_cvv_match: Option<bool>,
                /// Required fields of a payment with a swiped card, comma-separated; cards.
                pub swipe_required_payment_fields: Option<String>,
                /// Allowed countries, comma-separated; empty: all.
                pub transaction_allowed_countries: Option<String>,
                /// Accepted card types, comma-separated, or `*`; cards.
                pub accepted_card_types: Option<String>,
                $($after)*
            }
        }
    };
}

account! {
    /// One account of the merchant (service-facts, 69).
    MerchantAccount {
        /// The id for `account_id` in requests.
        pub id: String,
        /// Creation of the account.
        pub created: Option<Timestamp>,
        /// Last change of the account.
        pub modified: Option<Timestamp>,
        /// `ACTIVE`, `INACTIVE` or `DELETED`.
        pub status: Option<String>,
        /// Name of the account.
        pub name: String,
        /// True for the default account of its type.
        pub primary: Option<bool>,
        /// Three letters.
        pub currency: Option<String>,
        /// True for a trust account.
        pub trust_account: Option<bool>,
    } {
        /// Routing number, masked; electronic checks.
        pub routing_number: Option<String>,
        /// Account number, masked; electronic checks.
        pub account_number: Option<String>,
        /// `CHECKING` or `SAVINGS`; electronic checks.
        pub account_type: Option<String>,
        /// Name of the bank; electronic checks.
        pub bank_name: Option<String>,
    }
}

account! {
    /// A merchant's change of an account: absent fields stay (service-facts, 69 and 71).
    AccountChange {
        /// Name of the account.
        pub name: Option<String>,
        /// Makes this account the default of its type; only `true` has an effect, since one account
        /// always is.
        pub primary: Option<bool>,
    } {}
}

/// Returns whether 204 and no body means success, which holds for one path alone (service-facts,
/// 4).
pub fn allows_empty_reply(call: &Call) -> bool {
    call.endpoint == PurgeTestData::NAME
}

endpoints! {
    /// Reads the merchant; clients test a key with this call (service-facts, 67).
    GetMerchant "merchant.get": Get Base "/v1/merchant" by SecretKey, () => Merchant;
    /// Changes the merchant.
    PatchMerchant "merchant.change": Patch Base "/v1/merchant" by SecretKey,
        MerchantChange => Merchant;
    /// Changes a card account.
    PatchAccount "account.change": Patch Base "/v1/accounts/{id}" by SecretKey,
        AccountChange => MerchantAccount;
    /// Changes an eCheck account.
    PatchAchAccount "ach_account.change": Patch Base "/v1/ach-accounts/{id}" by SecretKey,
        AccountChange => MerchantAccount;
    /// Clears test data; answers 204.
    PurgeTestData "merchant.purge": Post Base "/v1/merchant/purge-test-data" by SecretKey,
        Purge => ();
    /// Lists the bank accounts of the token's merchant, test and live.
    ListBankAccounts "bank_account.list": Get Base "/bank-accounts" by Payments,
        () => Vec<BankAccount>;
    /// Revokes a merchant's authorisation of this partner: every key and token of it ends. Answers 200
    /// with an empty body.
    Deauthorise "merchant.deauthorise":
        Delete Web "/api/v1/merchants/{public_key}/deauthorize_application" by Tenant, () => ();
}
