//! `link` and `attach`: what is given to payers, and what comes of it.

use clap::Args;

/// Days that a payer's link is good for, at most.
const DAYS_MAX: i64 = 90;

/// `link`.
#[derive(Debug, Args)]
pub struct LinkArgs {
    /// An invoice, or a saved method that says `source: intake`.
    #[arg(value_name = "KIND/NAME")]
    pub what: String,
    /// How many days the link of a saved method is good for, 1 to 90; 7 where nothing is said. The portal link of an
    /// invoice ends as the service wills.
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u16).range(1..=DAYS_MAX))]
    pub days: Option<u16>,
}

/// `attach`.
#[derive(Debug, Args)]
pub struct AttachArgs {
    /// The saved method; its document says `source: intake`.
    #[arg(value_name = "SavedMethod/NAME")]
    pub what: String,
    /// The one-time token, no older than five minutes; `-` reads it from standard input, where nobody else sees it. Said
    /// more than once, the further ones are of the same details, for the recurring charges that the method pays: one each.
    #[arg(long = "token", value_name = "TOKEN", allow_hyphen_values = true, required = true)]
    pub tokens: Vec<String>,
    /// What is saved already is replaced by what the token holds.
    #[arg(long)]
    pub replace: bool,
}
