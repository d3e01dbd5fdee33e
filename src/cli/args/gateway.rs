//! `gateway`: changes of the service that no document stands for.

mod changing;
mod keeping;
mod own;

use std::path::PathBuf;

use clap::{Args, Subcommand};

pub use changing::{ChangeArgs, ScheduleArgs};
pub use keeping::{SaveArgs, TokenArgs, UploadArgs, VaultArgs};
pub use own::{AccountArgs, AccountType, Deletable, DeleteArgs, MerchantArgs, PurgeArgs};

use crate::base::id::{Name, RemoteId};
use crate::base::money::Money;

/// What to do.
#[derive(Debug, Subcommand)]
pub enum GatewayCommand {
    #[command(flatten)]
    Change(GatewayChange),
    /// Show what the service answers to a read; without a name, what can be read.
    Get(GatewayGetArgs),
}

/// `gateway get`.
#[derive(Debug, Args)]
pub struct GatewayGetArgs {
    /// The read, such as `card.list`.
    pub read: Option<String>,
    /// What its path takes, in order, and its query as `name=value`.
    #[arg(value_name = "VALUE|NAME=VALUE")]
    pub given: Vec<String>,
    /// The merchant's document: NAME, or NAMESPACE/NAME.
    #[arg(long, value_name = "NAME")]
    pub merchant: Option<String>,
    /// The body of `recurring.preview`, as JSON.
    #[arg(long, value_name = "JSON")]
    pub body: Option<String>,
}

/// A change.
#[derive(Debug, Subcommand)]
pub enum GatewayChange {
    /// Take money by a saved method; with --hold only reserve it, for seven days.
    Charge(ChargeArgs),
    /// Give money by a saved method, without a charge.
    Credit(MoveArgs),
    /// Give money of a charge back, all of it or a part.
    Refund(RefundArgs),
    /// Take a charge, refund or credit back before it is settled.
    Void(VoidArgs),
    /// Capture a hold.
    Capture(CaptureArgs),
    /// Keep a payer's signature of a transaction.
    Sign(SignArgs),
    /// Pay an occurrence of a recurring charge early, or try it again.
    Pay(PayArgs),
    /// Take an occurrence of a recurring charge out of the collection.
    Ignore(IgnoreArgs),
    /// End a recurring charge, where the service can.
    Cancel(CancelArgs),
    /// Delete a saved card or bank, or a recurring charge, that no document manages.
    Delete(DeleteArgs),
    /// Give a merchant's authorization back: nothing is done for it until it gives another.
    Deauthorise(DeauthoriseArgs),
    /// Change a saved card or bank, or a recurring charge, that no document manages; of one that a document manages, the date
    /// of a card that its payer gave.
    Change(ChangeArgs),
    /// Make a recurring charge of an earlier charge: its payer goes on paying by the same method.
    Schedule(ScheduleArgs),
    /// Save the card or bank account behind a one-time token.
    Save(SaveArgs),
    /// Upload a file under a contact, so that an invoice can name it by its id.
    ///
    /// It is processed afterwards: `gateway get file.get CONTACT FILE` shows how far that is. Where the answer is lost
    /// it is uploaded again: a copy that nobody names harms nobody.
    Upload(UploadArgs),
    /// Keep the card or bank account behind a one-time token in a contact's vault; charges can name its id.
    Vault(VaultArgs),
    /// Change a merchant's own details: whom to ask, its address, who may call, where events go.
    Merchant(MerchantArgs),
    /// Change an account that takes payments: its name, what it demands, whether it is the primary one.
    Account(AccountArgs),
    /// Clear a merchant's test data.
    ///
    /// What documents stand for goes, too. The next look finds it missing (`plan --refresh`, or the daemon by itself),
    /// and its resource is blocked: nothing is made again before its document raises `reckon.dev/generation`. A purge is
    /// done once, like everything here: the next one needs a --name.
    Purge(PurgeArgs),
}

/// What every action takes.
#[derive(Debug, Args)]
pub struct Common {
    /// The merchant's document: NAME, or NAMESPACE/NAME.
    #[arg(long, value_name = "NAME")]
    pub merchant: String,
    /// The action's name, for ever: one name does one thing, once. Made of what is asked for by default, so
    /// that a command said twice is done once.
    #[arg(long, value_name = "NAME")]
    pub name: Option<Name>,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
}

/// `gateway charge`.
#[derive(Debug, Args)]
pub struct ChargeArgs {
    #[command(flatten)]
    pub movement: MoveArgs,
    /// Only reserve the money; cards alone.
    #[arg(long)]
    pub hold: bool,
    /// How much of the amount is a surcharge, with its currency: the receipt shows it.
    #[arg(long, value_name = "AMOUNT")]
    pub surcharge: Option<Money>,
}

/// `gateway credit`, and the most of `gateway charge`.
#[derive(Debug, Args)]
pub struct MoveArgs {
    #[command(flatten)]
    pub common: Common,
    /// How much, with its currency: "125.00 USD".
    #[arg(long)]
    pub amount: Money,
    /// A saved method: the NAME of its document, or its id on the service; or a one-time token.
    #[arg(long, value_name = "NAME|ID")]
    pub method: String,
    /// The merchant's account; the service's choice by default.
    #[arg(long, value_name = "ID")]
    pub account: Option<String>,
    /// Words for the receipt.
    #[arg(long, value_name = "TEXT")]
    pub reference: Option<String>,
}

/// `gateway refund`.
#[derive(Debug, Args)]
pub struct RefundArgs {
    /// The charge.
    #[arg(value_name = "CHARGE")]
    pub charge: RemoteId,
    /// How much of it, with its currency: "125.00 USD".
    #[arg(long)]
    pub amount: Money,
    /// Another method of the same type to give it to, where the tenant allows that: the NAME of its document, or its id.
    #[arg(long, value_name = "NAME|ID")]
    pub method: Option<String>,
    #[command(flatten)]
    pub common: Common,
}

/// `gateway void`.
#[derive(Debug, Args)]
pub struct VoidArgs {
    /// The charge, refund or credit.
    #[arg(value_name = "TRANSACTION")]
    pub transaction: RemoteId,
    /// Why, for the record.
    #[arg(long, value_name = "TEXT")]
    pub reference: Option<String>,
    #[command(flatten)]
    pub common: Common,
}

/// `gateway capture`.
#[derive(Debug, Args)]
pub struct CaptureArgs {
    /// The hold.
    #[arg(value_name = "CHARGE")]
    pub charge: RemoteId,
    /// The amount that was authorised, with its currency: no other is captured.
    #[arg(long)]
    pub amount: Money,
    /// Leave it to the next daily run.
    #[arg(long)]
    pub next_run: bool,
    /// Words for the record.
    #[arg(long, value_name = "TEXT")]
    pub reference: Option<String>,
    #[command(flatten)]
    pub common: Common,
}

/// `gateway sign`.
#[derive(Debug, Args)]
pub struct SignArgs {
    /// The transaction.
    #[arg(value_name = "TRANSACTION")]
    pub transaction: RemoteId,
    /// The strokes: JSON with the arrays x and y; `-` reads standard input.
    #[arg(long, value_name = "FILE")]
    pub data: PathBuf,
    /// How the strokes are written.
    #[arg(long, default_value = "service/jsignature", value_name = "TYPE")]
    pub mime_type: String,
    #[command(flatten)]
    pub common: Common,
}

/// `gateway pay`.
#[derive(Debug, Args)]
pub struct PayArgs {
    /// The recurring charge: its id on the service.
    #[arg(value_name = "RECURRING")]
    pub recurring: RemoteId,
    /// Its occurrence.
    #[arg(value_name = "OCCURRENCE")]
    pub occurrence: RemoteId,
    /// What the occurrence has to be, with its currency: no other is paid.
    #[arg(long)]
    pub amount: Money,
    #[command(flatten)]
    pub common: Common,
}

/// `gateway ignore`.
#[derive(Debug, Args)]
pub struct IgnoreArgs {
    /// The recurring charge: its id on the service.
    #[arg(value_name = "RECURRING")]
    pub recurring: RemoteId,
    /// Its occurrence.
    #[arg(value_name = "OCCURRENCE")]
    pub occurrence: RemoteId,
    #[command(flatten)]
    pub common: Common,
}

/// `gateway cancel`.
#[derive(Debug, Args)]
pub struct CancelArgs {
    /// The recurring charge: its id on the service.
    #[arg(value_name = "RECURRING")]
    pub recurring: RemoteId,
    #[command(flatten)]
    pub common: Common,
}

/// `gateway deauthorise`.
#[derive(Debug, Args)]
pub struct DeauthoriseArgs {
    #[command(flatten)]
    pub common: Common,
}
