//! Deposit accounts for the money of invoices (partner-api, Bank account).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::call::{Auth, Endpoint, Host, Method};

/// A deposit account; an invoice names its id.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BankAccount {
    /// `bank_…`.
    pub id: String,
    /// The merchant's name for the account.
    pub name: String,
    /// The bank's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bank_name: Option<String>,
    /// True for a trust account.
    pub trust: bool,
    /// The masked account number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    /// Three letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// The accounts that take payments into it.
    pub processing_accounts: Vec<ProcessingAccount>,
}

/// A gateway account that takes payments into a bank account.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProcessingAccount {
    /// Id of the gateway account.
    pub id: String,
    /// Name of the gateway account.
    pub name: String,
    /// Comma-separated, such as `cvv,postal_code`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required_payment_fields: Option<String>,
    /// Comma-separated card brands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted_card_types: Option<String>,
    /// Such as `OPTIONAL`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cvv_policy: Option<String>,
    /// Such as `SUBMIT_IGNORE_RESULT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub avs_policy: Option<String>,
    /// The CVV policy for swiped cards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swipe_cvv_policy: Option<String>,
    /// The AVS policy for swiped cards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swipe_avs_policy: Option<String>,
    /// The required payment fields for swiped cards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swipe_required_payment_fields: Option<String>,
    /// `card`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// Lists the bank accounts of the token's merchant, test and live.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct ListBankAccounts;

impl Endpoint for ListBankAccounts {
    const NAME: &'static str = "bank_account.list";
    const METHOD: Method = Method::Get;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/bank-accounts";
    const AUTH: Auth = Auth::Payments;
    type Request = ();
    type Reply = Vec<BankAccount>;
}
