//! Arguments of `link` and `attach`: links for payers, and the tokens that they bring.

use clap::Args;

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
