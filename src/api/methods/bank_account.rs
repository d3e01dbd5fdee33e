//! Deposit accounts for the money of invoices (partner-api, Bank account).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::api::call::endpoints;

/// A deposit account; an invoice names its id.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
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
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
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

endpoints! {
    /// Lists the bank accounts of the token's merchant, test and live.
    ListBankAccounts "bank_account.list": Get Base "/bank-accounts" by Payments,
        () => Vec<BankAccount>;
}
