//! Arguments of commands about single resources, intents and plans: `import`, `forget`, `suspend`,
//! `resume`, `intents`, `link`, `attach`, the choice of resources, saved plans and signed approvals.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::base::id::{IntentId, Key, RemoteId};
use crate::engine::protocol::actions::ManualResolution;

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The document that takes the object over.
    #[arg(value_name = "KIND/NAME", required_unless_present = "all", requires = "id")]
    pub what: Option<String>,
    /// The object's id at the service.
    #[arg(value_name = "ID")]
    pub id: Option<RemoteId>,
    /// Take the object over although the service does not show it: only you assert that it matches
    /// the document.
    #[arg(long, conflicts_with = "all")]
    pub unverified: bool,
    /// Take over every object of this sort that is not known yet, and write a document for each
    /// that has none.
    #[arg(long, value_name = "SORT", requires = "merchant", conflicts_with_all = ["what", "id"])]
    pub all: Option<ImportList>,
    /// The merchant that owns the objects: the name of its document.
    #[arg(long, value_name = "NAME", requires = "all")]
    pub merchant: Option<String>,
    /// The folder to write the documents to; `imported` beneath the folder of specs by default.
    #[arg(long, value_name = "DIR", requires = "all")]
    pub into: Option<PathBuf>,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
}

/// Sorts of objects that the service lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ImportList {
    /// Saved cards.
    Cards,
    /// Saved bank accounts.
    Banks,
    /// Recurring charges.
    Recurring,
}

impl ImportList {
    /// Returns the name of the list, for people.
    pub fn list(self) -> &'static str {
        match self {
            Self::Cards => "cards",
            Self::Banks => "banks",
            Self::Recurring => "recurring charges",
        }
    }
}

/// Arguments of `forget`.
#[derive(Debug, Args)]
pub struct ForgetArgs {
    /// A resource whose document is gone, or the id of an unknown object with your mark that blocks
    /// a step.
    #[arg(value_name = "KIND/NAME|ID")]
    pub what: String,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
}

/// Days for which a payer's link is valid, at most.
const DAYS_MAX: i64 = 90;

/// Arguments of `link`.
#[derive(Debug, Args)]
pub struct LinkArgs {
    /// An invoice, or a saved method with `source: intake`.
    #[arg(value_name = "KIND/NAME")]
    pub what: String,
    /// The number of days for which the link of a saved method is valid, 1 to 90; 7 by default. The
    /// service decides when the portal link of an invoice ends.
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u16).range(1..=DAYS_MAX))]
    pub days: Option<u16>,
}

/// Arguments of `attach`.
#[derive(Debug, Args)]
pub struct AttachArgs {
    /// The saved method; its document has `source: intake`.
    #[arg(value_name = "SavedMethod/NAME")]
    pub what: String,
    /// The one-time token, no older than five minutes; `-` reads it from standard input, out of
    /// sight of other users. May be repeated: the further tokens hold the same details, one for
    /// each recurring charge that the method pays.
    #[arg(long = "token", value_name = "TOKEN", allow_hyphen_values = true, required = true)]
    pub tokens: Vec<String>,
    /// Replace what is saved already by the token's details.
    #[arg(long)]
    pub replace: bool,
}

/// Arguments of `intents`.
#[derive(Debug, Args)]
pub struct IntentsArgs {
    /// A subcommand for one of them.
    #[command(subcommand)]
    pub command: Option<IntentsCommand>,
}

/// Subcommands of `intents`.
#[derive(Debug, Subcommand)]
pub enum IntentsCommand {
    /// Record the outcome of an intent that nothing else can settle. Never asks for confirmation.
    Resolve(ResolveArgs),
    /// Confirm that you reviewed an effect that was done again after an intent: the intent is no
    /// longer listed or counted.
    Dismiss(DismissArgs),
}

/// Arguments of `intents dismiss`.
#[derive(Debug, Args)]
pub struct DismissArgs {
    /// The intent's number, as `intents` lists it under MADE AGAIN.
    #[arg(value_name = "ID")]
    pub id: IntentId,
    /// Your findings, for the journal.
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

/// Arguments of `intents resolve`.
#[derive(Debug, Args)]
pub struct ResolveArgs {
    /// The intent's number.
    #[arg(value_name = "ID")]
    pub id: IntentId,
    /// The outcome. `done:` and the object's id: it happened; the object is read and compared where
    /// the service shows it. `unverified:` and the id: it happened, on your word alone. `not-done`:
    /// it did not happen, and cannot any more. `retry`: look for it once more.
    #[arg(long = "as", value_name = "done:REMOTE_ID|unverified:REMOTE_ID|not-done|retry")]
    pub said: ManualResolution,
}

/// Arguments of `suspend`.
#[derive(Debug, Args)]
pub struct SuspendArgs {
    /// The resource to suspend, or the merchant with all its resources.
    #[arg(value_name = "KIND/NAME")]
    pub what: String,
    /// The reason, for others to read.
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// The automatic end: a moment (2026-11-30T12:00:00Z), a date (its first moment in UTC), or a
    /// duration from now (90m, 12h, 3d, 2w).
    #[arg(long, value_name = "TIME|DURATION")]
    pub until: Option<String>,
}

/// Arguments of `resume`.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The resource or merchant to resume.
    #[arg(value_name = "KIND/NAME")]
    pub what: String,
}

/// Arguments of `freeze`.
#[derive(Debug, Args)]
pub struct FreezeArgs {
    /// The reason, for others to read.
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

/// Arguments that choose resources by name.
#[derive(Debug, Args, Default)]
pub struct ChoiceArgs {
    /// Only this resource; may be repeated.
    #[arg(long, value_name = "KIND/NAME")]
    pub target: Vec<Key>,
    /// Exclude this resource; may be repeated. Resources that depend on it wait, unless it is
    /// ready.
    #[arg(long, value_name = "KIND/NAME")]
    pub exclude: Vec<Key>,
}

/// Subcommands of `plan`, for a saved plan.
#[derive(Debug, Subcommand)]
pub enum PlanCommand {
    /// Show a saved plan: offline, without state, key or configuration, used and outdated plans
    /// too.
    Show(ShowArgs),
}

/// Arguments of `plan show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The file that `plan --out` wrote.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Exit with 2 if the plan changes anything.
    #[arg(long)]
    pub detailed_exitcode: bool,
}

/// Arguments for approvals in signed commits.
#[derive(Debug, Args)]
pub struct SignedArgs {
    /// Do not approve now: write the approval to this file, which counts once it is committed,
    /// alone and signed.
    #[arg(long, value_name = "FILE", conflicts_with = "signed")]
    pub write: Option<PathBuf>,
    /// The end of the written approval: a moment, a date (its first moment in UTC), or a duration
    /// from now (12h, 3d, 2w).
    #[arg(long, value_name = "TIME|DURATION", requires = "write")]
    pub expires: Option<String>,
    /// Record the approvals of checked-out signed commits, and show the status of each file.
    #[arg(long, conflicts_with_all = ["what", "ceiling", "yes"])]
    pub signed: bool,
}
