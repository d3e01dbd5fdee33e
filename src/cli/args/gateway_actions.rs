//! Arguments of `gateway`: changes of the service that no document describes.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::gateway_fields::{
    AccountArgs, ActionArgs, ChangeArgs, DeleteArgs, MerchantArgs, PurgeArgs, SaveArgs,
    ScheduleArgs, UploadArgs, VaultArgs,
};
use crate::base::id::RemoteId;
use crate::base::money::Money;

/// Subcommands of `gateway`.
#[derive(Debug, Subcommand)]
pub enum GatewayCommand {
    #[command(flatten)]
    Change(GatewayChange),
    /// Show the service's answer to a read; without a name, list the reads.
    Get(GatewayGetArgs),
}

/// Arguments of `gateway get`.
#[derive(Debug, Args)]
pub struct GatewayGetArgs {
    /// The read, such as `card.list`.
    pub read: Option<String>,
    /// The values of its path, in order, and its query as `name=value`.
    #[arg(value_name = "VALUE|NAME=VALUE")]
    pub given: Vec<String>,
    /// The merchant's document: NAME, or NAMESPACE/NAME.
    #[arg(long, value_name = "NAME")]
    pub merchant: Option<String>,
    /// The body of `recurring.preview`, as JSON.
    #[arg(long, value_name = "JSON")]
    pub body: Option<String>,
}

/// Subcommands of `gateway` that change the service. They serialise as `{VERB: FIELDS}`, without
/// the fields that need more than their arguments.
#[derive(Debug, Subcommand, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GatewayChange {
    /// Take money by a saved method; with --hold only reserve it, for seven days.
    Charge(ChargeArgs),
    /// Pay money out to a saved method, without a charge.
    Credit(MoveArgs),
    /// Give money of a charge back, all of it or a part.
    Refund(RefundArgs),
    /// Void a charge, refund or credit before it is settled.
    Void(VoidArgs),
    /// Capture a hold.
    Capture(CaptureArgs),
    /// Store a payer's signature of a transaction.
    Sign(SignArgs),
    /// Pay an occurrence of a recurring charge early, or retry it.
    Pay(PayArgs),
    /// Take an occurrence of a recurring charge out of the collection.
    Ignore(IgnoreArgs),
    /// End a recurring charge, where the service allows it.
    Cancel(CancelArgs),
    /// Delete a saved card or bank, or a recurring charge, that no document manages.
    Delete(DeleteArgs),
    /// Give a merchant's authorisation back: nothing is done for the merchant until it authorises
    /// again.
    Deauthorise(DeauthoriseArgs),
    /// Change a saved card or bank, or a recurring charge, that no document manages. Of one that a
    /// document manages, only the date of a card that its payer gave can be changed.
    Change(ChangeArgs),
    /// Make a recurring charge from an earlier charge: its payer goes on paying by the same method.
    Schedule(ScheduleArgs),
    /// Save the card or bank account behind a one-time token.
    Save(SaveArgs),
    /// Upload a file under a contact, so that an invoice can name it by its id.
    ///
    /// The service processes the file afterwards: `gateway get file.get CONTACT FILE` shows its
    /// status. If the answer is lost, the file is uploaded again: an unused copy does no harm.
    Upload(UploadArgs),
    /// Store the card or bank account behind a one-time token in a contact's vault; charges can
    /// name its id.
    Vault(VaultArgs),
    /// Change a merchant's own details: its contact person, address, allowed callers and event
    /// addresses.
    Merchant(MerchantArgs),
    /// Change an account that takes payments: its name, its requirements, whether it is the primary
    /// one.
    Account(AccountArgs),
    /// Clear a merchant's test data.
    ///
    /// Objects that documents describe are cleared, too. The next resync (`plan --refresh`, or the
    /// daemon by itself) finds them missing and blocks their resources: nothing is created again
    /// before the document raises `reckon.dev/generation`. A purge is done once, like every action
    /// here: the next one needs a --name.
    Purge(PurgeArgs),
}

/// Arguments of `gateway charge`.
#[derive(Debug, Args, Serialize)]
pub struct ChargeArgs {
    #[command(flatten)]
    #[serde(flatten)]
    pub movement: MoveArgs,
    /// Only reserve the money; cards alone.
    #[arg(long)]
    pub hold: bool,
    /// The part of the amount that is a surcharge, with its currency; the receipt shows it.
    #[arg(long, value_name = "AMOUNT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surcharge: Option<Money>,
}

/// Arguments of `gateway credit`, and most of those of `gateway charge`.
#[derive(Debug, Args, Serialize)]
pub struct MoveArgs {
    #[command(flatten)]
    pub common: ActionArgs,
    /// The amount, with its currency: "125.00 USD".
    #[arg(long)]
    pub amount: Money,
    /// A saved method: the NAME of its document, or its id on the service; or a one-time token.
    #[arg(long, value_name = "NAME|ID")]
    pub method: String,
    /// The merchant's account; the service chooses one by default.
    #[arg(long, value_name = "ID")]
    pub account: Option<String>,
    /// A text for the receipt.
    #[arg(long, value_name = "TEXT")]
    pub reference: Option<String>,
}

/// Arguments of `gateway refund`.
#[derive(Debug, Args, Serialize)]
pub struct RefundArgs {
    /// The charge.
    #[arg(value_name = "CHARGE")]
    pub charge: RemoteId,
    /// The amount to refund, with its currency: "125.00 USD".
    #[arg(long)]
    pub amount: Money,
    /// Another method of the same type to refund to, where the tenant allows it: the NAME of its
    /// document, or its id.
    #[arg(long, value_name = "NAME|ID")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    #[command(flatten)]
    pub common: ActionArgs,
}

/// Arguments of `gateway void`.
#[derive(Debug, Args, Serialize)]
pub struct VoidArgs {
    /// The charge, refund or credit.
    #[arg(value_name = "TRANSACTION")]
    pub transaction: RemoteId,
    /// The reason, for the record.
    #[arg(long, value_name = "TEXT")]
    pub reference: Option<String>,
    #[command(flatten)]
    pub common: ActionArgs,
}

/// Arguments of `gateway capture`.
#[derive(Debug, Args, Serialize)]
pub struct CaptureArgs {
    /// The hold.
    #[arg(value_name = "CHARGE")]
    pub charge: RemoteId,
    /// The amount that was authorised, with its currency; no other amount is captured.
    #[arg(long)]
    pub amount: Money,
    /// Leave the capture to the next daily run.
    #[arg(long)]
    #[serde(skip)]
    pub next_run: bool,
    /// A text for the record.
    #[arg(long, value_name = "TEXT")]
    pub reference: Option<String>,
    #[command(flatten)]
    pub common: ActionArgs,
}

/// Arguments of `gateway sign`.
#[derive(Debug, Args, Serialize)]
pub struct SignArgs {
    /// The transaction.
    #[arg(value_name = "TRANSACTION")]
    pub transaction: RemoteId,
    /// The strokes: JSON with the arrays x and y; `-` reads standard input.
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub data: PathBuf,
    /// The format of the strokes.
    #[arg(long, default_value = "service/jsignature", value_name = "TYPE")]
    pub mime_type: String,
    #[command(flatten)]
    pub common: ActionArgs,
}

/// Arguments of `gateway pay`.
#[derive(Debug, Args, Serialize)]
pub struct PayArgs {
    /// The recurring charge: its id on the service.
    #[arg(value_name = "RECURRING")]
    pub recurring: RemoteId,
    /// The occurrence: its id on the service.
    #[arg(value_name = "OCCURRENCE")]
    pub occurrence: RemoteId,
    /// The amount of the occurrence, with its currency; an occurrence of another amount is not
    /// paid.
    #[arg(long)]
    pub amount: Money,
    #[command(flatten)]
    pub common: ActionArgs,
}

/// Arguments of `gateway ignore`.
#[derive(Debug, Args, Serialize)]
pub struct IgnoreArgs {
    /// The recurring charge: its id on the service.
    #[arg(value_name = "RECURRING")]
    pub recurring: RemoteId,
    /// The occurrence: its id on the service.
    #[arg(value_name = "OCCURRENCE")]
    pub occurrence: RemoteId,
    #[command(flatten)]
    pub common: ActionArgs,
}

/// Arguments of `gateway cancel`.
#[derive(Debug, Args, Serialize)]
pub struct CancelArgs {
    /// The recurring charge: its id on the service.
    #[arg(value_name = "RECURRING")]
    pub recurring: RemoteId,
    #[command(flatten)]
    pub common: ActionArgs,
}

/// Arguments of `gateway deauthorise`.
#[derive(Debug, Args, Serialize)]
pub struct DeauthoriseArgs {
    #[command(flatten)]
    pub common: ActionArgs,
}
