//! Arguments of `gateway` that every action has, and those of its changes of merchants, accounts,
//! saved objects and schedules.

use std::path::PathBuf;

use chrono::NaiveDate;
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::base::id::{Name, RemoteId};
use crate::base::money::Money;
use crate::base::schedule::Day;

/// Arguments of `gateway merchant`.
#[derive(Debug, Args, Serialize)]
pub struct MerchantArgs {
    /// A field to set; may be repeated. An empty VALUE removes it. Names: `contact_name`,
    /// `contact_email`, `contact_phone`, `address1`, `address2`, `city`, `state`, `postal_code`,
    /// `country`, `api_allowed_ip_address_ranges` (callers from other addresses are locked out,
    /// this program too), `live_events_urls`, `test_events_urls`.
    #[arg(long, value_name = "NAME=VALUE", required = true)]
    #[serde(skip)]
    pub set: Vec<String>,
    #[command(flatten)]
    pub common: ActionArgs,
}

/// The payment type of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountTypeArg {
    /// Cards.
    Card,
    /// Electronic checks.
    Bank,
}

/// Arguments of `gateway account`.
#[derive(Debug, Args, Serialize)]
pub struct AccountArgs {
    /// The account: its id on the service.
    #[arg(value_name = "ACCOUNT")]
    pub account: RemoteId,
    /// The account's payment type.
    #[arg(long = "type", value_name = "TYPE")]
    #[serde(rename = "type")]
    pub kind: AccountTypeArg,
    /// A field to set; may be repeated. Names: `name`, `primary` (true: this account replaces the
    /// present primary one of its type), `transaction_allowed_countries`; of a card account also
    /// `cvv_policy`, `avs_policy`, `required_payment_fields`, `accepted_card_types`.
    #[arg(long, value_name = "NAME=VALUE", required = true)]
    #[serde(skip)]
    pub set: Vec<String>,
    #[command(flatten)]
    pub common: ActionArgs,
}

/// Arguments of `gateway purge`.
#[derive(Debug, Args, Serialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Deletable {
    /// A saved card.
    Card,
    /// A saved bank.
    Bank,
    /// A recurring charge, with its uncollected occurrences.
    Recurring,
}

/// Arguments of `gateway delete`.
#[derive(Debug, Args, Serialize)]
pub struct DeleteArgs {
    /// The type of the object.
    #[arg(value_name = "TYPE")]
    #[serde(rename = "type")]
    pub kind: Deletable,
    /// The object's id on the service.
    #[arg(value_name = "ID")]
    pub id: RemoteId,
    #[command(flatten)]
    pub common: ActionArgs,
}

/// Arguments of every action.
#[derive(Debug, Args, Serialize, Deserialize)]
pub struct ActionArgs {
    /// The merchant's document: NAME, or NAMESPACE/NAME.
    #[arg(long, value_name = "NAME")]
    pub merchant: String,
    /// The action's name, for ever: one name does one thing, once. By default it is derived from
    /// the arguments, so that the same command given twice is done once.
    #[arg(long, value_name = "NAME")]
    pub name: Option<Name>,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
}

// Arguments of `gateway`: recurring charges from earlier charges, and changes of what no document
// manages.

/// The unit of a schedule's step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ScheduleUnit {
    /// Days.
    Day,
    /// Weeks.
    Week,
    /// Months.
    Month,
}

/// Arguments of `gateway schedule`.
#[derive(Debug, Args, Serialize)]
pub struct ScheduleArgs {
    /// The earlier charge: its id on the service.
    #[arg(value_name = "CHARGE")]
    pub charge: RemoteId,
    /// The amount of each payment, with its currency: "125.00 USD".
    #[arg(long)]
    pub amount: Money,
    /// The first date that may be due, YYYY-MM-DD; not today.
    #[arg(long, value_name = "DATE")]
    pub start: NaiveDate,
    /// The unit of the schedule's step.
    #[arg(long, value_name = "UNIT")]
    #[serde(rename = "interval_unit")]
    pub every: ScheduleUnit,
    /// The number of units from one payment to the next.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[serde(rename = "interval_delay")]
    pub step: u32,
    /// The last date that may be due, YYYY-MM-DD.
    #[arg(long, value_name = "DATE")]
    pub end: Option<NaiveDate>,
    /// Days within each week (1 is Monday) or month (LAST is its last one), with commas between;
    /// the day of the start by default.
    #[arg(long, value_name = "DAYS", value_delimiter = ',')]
    pub days: Vec<Day>,
    #[command(flatten)]
    pub common: ActionArgs,
}

/// Arguments of `gateway change`.
#[derive(Debug, Args, Serialize)]
pub struct ChangeArgs {
    /// The type of the object.
    #[arg(value_name = "TYPE")]
    #[serde(rename = "type")]
    pub kind: Deletable,
    /// The object's id on the service.
    #[arg(value_name = "ID")]
    pub id: RemoteId,
    /// A field to set; may be repeated. Names: `description`; of a card or bank also `reference`,
    /// where an empty VALUE removes the text; of a recurring charge also `amount`, `max_amount`
    /// (with their currency, such as "125.00 USD"), `max_occurrences`, and, where it collects from
    /// a card, the card's new date: `exp_month` and `exp_year` together.
    #[arg(long, value_name = "NAME=VALUE", required = true)]
    #[serde(skip)]
    pub set: Vec<String>,
    #[command(flatten)]
    pub common: ActionArgs,
}

// Arguments of `gateway`: files and payment methods that are stored for later.

/// Arguments of `gateway upload`.
#[derive(Debug, Args, Serialize)]
pub struct UploadArgs {
    /// The file: at most 10 MiB.
    #[arg(value_name = "FILE")]
    #[serde(skip)]
    pub file: PathBuf,
    /// The contact: the NAME of its document, or its id on the service.
    #[arg(long, value_name = "NAME|ID")]
    pub contact: String,
    /// The file's name for payers; the name of the local file by default.
    #[arg(long, value_name = "NAME")]
    pub file_name: Option<String>,
    #[command(flatten)]
    pub common: ActionArgs,
}

/// Argument that holds a one-time token.
#[derive(derive_more::Debug, Args)]
#[debug("TokenArgs(***)")]
pub struct TokenArgs {
    /// A one-time token, which is valid for five minutes; `-` reads standard input. The command
    /// uses the token up and writes it down nowhere.
    #[arg(long, value_name = "TOKEN")]
    pub token: String,
}

/// Arguments of `gateway vault`.
#[derive(Debug, Args, Serialize)]
pub struct VaultArgs {
    /// The contact: the NAME of its document, or its id on the service.
    #[arg(value_name = "CONTACT")]
    pub contact: String,
    /// The type of the method behind the token.
    #[arg(long = "type", value_name = "TYPE")]
    #[serde(rename = "type")]
    pub kind: AccountTypeArg,
    #[command(flatten)]
    #[serde(skip)]
    pub token: TokenArgs,
    #[command(flatten)]
    pub common: ActionArgs,
}

/// Arguments of `gateway save`.
#[derive(Debug, Args, Serialize)]
pub struct SaveArgs {
    /// The type of the method behind the token.
    #[arg(value_name = "TYPE")]
    #[serde(rename = "type")]
    pub kind: AccountTypeArg,
    #[command(flatten)]
    #[serde(skip)]
    pub token: TokenArgs,
    /// A text that describes the saved method.
    #[arg(long, value_name = "TEXT")]
    #[serde(skip)]
    pub description: Option<String>,
    #[command(flatten)]
    pub common: ActionArgs,
}
