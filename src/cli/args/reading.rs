//! Arguments of commands that read the state: `get`, `describe`, `why`.

use clap::Args;

use crate::base::id::{Key, Name};

/// Arguments of `get`.
#[derive(Debug, Args)]
pub struct GetArgs {
    /// List only this kind, or this one resource.
    #[arg(value_name = "KIND[/NAME]")]
    pub what: Option<String>,
    /// List only resources whose documents have these labels: KEY=VALUE, KEY!=VALUE or KEY, with
    /// commas between them.
    #[arg(short = 'l', long, value_name = "LABELS")]
    pub labels: Option<String>,
    /// List only resources of this namespace.
    #[arg(short = 'n', long, value_name = "NAME")]
    pub namespace: Option<Name>,
    /// List only this merchant and its resources.
    #[arg(long, value_name = "NAME")]
    pub merchant: Option<String>,
    /// List only resources that are not ready.
    #[arg(long)]
    pub not_ready: bool,
    /// Print the list, then each resource that changes, until a signal ends it.
    #[arg(short = 'w', long)]
    pub watch: bool,
}

/// Argument that names one resource.
#[derive(Debug, Args)]
pub struct ResourceArgs {
    /// The resource.
    #[arg(value_name = "KIND/NAME")]
    pub key: Key,
}

/// Arguments of `why`.
#[derive(Debug, Args)]
pub struct WhyArgs {
    /// An identifier that a command printed: a resource, an id of the service (a payment, an
    /// invoice …), a mark, an intent, an event, an action, an approval or a saved plan.
    #[arg(value_name = "ID|KIND/NAME", allow_hyphen_values = true)]
    pub what: String,
    /// Verify the complete journal, from its first record to its last.
    #[arg(long)]
    pub verify: bool,
}
