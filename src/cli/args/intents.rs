//! Arguments of `intents`: unsettled effects, and their settlement by a person.

use std::str::FromStr;

use clap::{Args, Subcommand};

use crate::base::id::IntentId;
use crate::engine::commands::resolve::ManualResolution;

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
    pub said: ResolutionArg,
}

/// A person's resolution as it is written on the command line.
#[derive(Debug, Clone)]
pub struct ResolutionArg(pub ManualResolution);

impl FromStr for ResolutionArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Self)
    }
}
