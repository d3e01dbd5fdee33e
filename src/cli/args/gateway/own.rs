//! `gateway`: changes of what a merchant has of its own.

use clap::{Args, ValueEnum};

use super::Common;
use crate::base::id::RemoteId;

/// `gateway merchant`.
#[derive(Debug, Args)]
pub struct MerchantArgs {
    /// What to set; may be said several times. An empty VALUE takes it away. Names: `contact_name`,
    /// `contact_email`, `contact_phone`, `address1`, `address2`, `city`, `state`, `postal_code`, `country`,
    /// `api_allowed_ip_address_ranges` (whoever calls from elsewhere is locked out, this program too),
    /// `live_events_urls`, `test_events_urls`.
    #[arg(long, value_name = "NAME=VALUE", required = true)]
    pub set: Vec<String>,
    #[command(flatten)]
    pub common: Common,
}

/// What an account takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AccountType {
    /// Cards.
    Card,
    /// Electronic checks.
    Bank,
}

impl AccountType {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Card => "card",
            Self::Bank => "bank",
        }
    }
}

/// `gateway account`.
#[derive(Debug, Args)]
pub struct AccountArgs {
    /// The account: its id on the service.
    #[arg(value_name = "ACCOUNT")]
    pub account: RemoteId,
    /// What it takes.
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: AccountType,
    /// What to set; may be said several times. Names: `name`, `primary` (true: it takes that place from another one
    /// of its type), `transaction_allowed_countries`; of a card account also `cvv_policy`, `avs_policy`,
    /// `required_payment_fields`, `accepted_card_types`.
    #[arg(long, value_name = "NAME=VALUE", required = true)]
    pub set: Vec<String>,
    #[command(flatten)]
    pub common: Common,
}

/// `gateway purge`.
#[derive(Debug, Args)]
pub struct PurgeArgs {
    /// Transactions, recurring charges and their occurrences. Without this and --methods: everything.
    #[arg(long)]
    pub transactions: bool,
    /// Saved cards and banks, and one-time tokens.
    #[arg(long)]
    pub methods: bool,
    #[command(flatten)]
    pub common: Common,
}

/// What `gateway delete` deletes, and `gateway change` changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Deletable {
    /// A saved card.
    Card,
    /// A saved bank.
    Bank,
    /// A recurring charge, with what it has not collected.
    Recurring,
}

impl Deletable {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Card => "card",
            Self::Bank => "bank",
            Self::Recurring => "recurring",
        }
    }
}

/// `gateway delete`.
#[derive(Debug, Args)]
pub struct DeleteArgs {
    /// What it is.
    #[arg(value_name = "TYPE")]
    pub kind: Deletable,
    /// Its id on the service.
    #[arg(value_name = "ID")]
    pub id: RemoteId,
    #[command(flatten)]
    pub common: Common,
}
