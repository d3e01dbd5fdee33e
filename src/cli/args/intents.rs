//! `intents`: effects that are not settled, and what a person says of them.

use std::str::FromStr;

use clap::{Args, Subcommand};

use crate::base::id::IntentId;
use crate::engine::Said;

/// `intents`.
#[derive(Debug, Args)]
pub struct IntentsArgs {
    /// A command for one of them.
    #[command(subcommand)]
    pub command: Option<IntentsCommand>,
}

/// About one intent.
#[derive(Debug, Subcommand)]
pub enum IntentsCommand {
    /// Say what became of an intent that nothing else can settle. Asks nothing: a word is enough.
    Resolve(ResolveArgs),
    /// Say that you looked after what an intent made again: it is listed and counted no more.
    Dismiss(DismissArgs),
}

/// `intents dismiss`.
#[derive(Debug, Args)]
pub struct DismissArgs {
    /// The intent's number, as `intents` lists it under MADE AGAIN.
    #[arg(value_name = "ID")]
    pub id: IntentId,
    /// The text for the journal: your findings.
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

/// `intents resolve`.
#[derive(Debug, Args)]
pub struct ResolveArgs {
    /// The intent's number.
    #[arg(value_name = "ID")]
    pub id: IntentId,
    /// `done:` and the object's id: it happened, and the object is read and compared where the service shows it;
    /// `unverified:` and the id: it happened, on your word alone; `not-done`: it did not, and cannot any more; `retry`:
    /// look for it once more.
    #[arg(long = "as", value_name = "done:REMOTE_ID|unverified:REMOTE_ID|not-done|retry")]
    pub said: Word,
}

/// A person's word as it is written.
#[derive(Debug, Clone)]
pub struct Word(pub Said);

impl FromStr for Word {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Self)
    }
}
