//! Arguments of `gateway`: changes of a merchant's own details, accounts and objects.

use clap::{Args, ValueEnum};

use super::options::ActionArgs;
use crate::base::id::RemoteId;

/// Arguments of `gateway merchant`.
#[derive(Debug, Args)]
pub struct MerchantArgs {
    /// A field to set; may be repeated. An empty VALUE removes it. Names: `contact_name`,
    /// `contact_email`, `contact_phone`, `address1`, `address2`, `city`, `state`, `postal_code`,
    /// `country`, `api_allowed_ip_address_ranges` (callers from other addresses are locked out,
    /// this program too), `live_events_urls`, `test_events_urls`.
    #[arg(long, value_name = "NAME=VALUE", required = true)]
    pub set: Vec<String>,
    #[command(flatten)]
    pub common: ActionArgs,
}

/// The payment type of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AccountTypeArg {
    /// Cards.
    Card,
    /// Electronic checks.
    Bank,
}

impl AccountTypeArg {
    /// Returns its word in an action's JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Card => "card",
            Self::Bank => "bank",
        }
    }
}

/// Arguments of `gateway account`.
#[derive(Debug, Args)]
pub struct AccountArgs {
    /// The account: its id on the service.
    #[arg(value_name = "ACCOUNT")]
    pub account: RemoteId,
    /// The account's payment type.
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: AccountTypeArg,
    /// A field to set; may be repeated. Names: `name`, `primary` (true: this account replaces the
    /// present primary one of its type), `transaction_allowed_countries`; of a card account also
    /// `cvv_policy`, `avs_policy`, `required_payment_fields`, `accepted_card_types`.
    #[arg(long, value_name = "NAME=VALUE", required = true)]
    pub set: Vec<String>,
    #[command(flatten)]
    pub common: ActionArgs,
}

/// Arguments of `gateway purge`.
#[derive(Debug, Args)]
pub struct PurgeArgs {
    /// Clear transactions, recurring charges and their occurrences. Without this and --methods:
    /// everything.
    #[arg(long)]
    pub transactions: bool,
    /// Clear saved cards and banks, and one-time tokens.
    #[arg(long)]
    pub methods: bool,
    #[command(flatten)]
    pub common: ActionArgs,
}

/// Types of objects that `gateway delete` deletes, and `gateway change` changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Deletable {
    /// A saved card.
    Card,
    /// A saved bank.
    Bank,
    /// A recurring charge, with its uncollected occurrences.
    Recurring,
}

impl Deletable {
    /// Returns its word in an action's JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Card => "card",
            Self::Bank => "bank",
            Self::Recurring => "recurring",
        }
    }
}

/// Arguments of `gateway delete`.
#[derive(Debug, Args)]
pub struct DeleteArgs {
    /// The type of the object.
    #[arg(value_name = "TYPE")]
    pub kind: Deletable,
    /// The object's id on the service.
    #[arg(value_name = "ID")]
    pub id: RemoteId,
    #[command(flatten)]
    pub common: ActionArgs,
}
