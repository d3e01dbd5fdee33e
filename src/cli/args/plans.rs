//! The arguments of plans: what they choose, and what is done with saved ones.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::base::id::Key;

/// Resources that are chosen by name.
#[derive(Debug, Args, Default)]
pub struct Choice {
    /// Only this resource; may be repeated.
    #[arg(long, value_name = "KIND/NAME")]
    pub target: Vec<Key>,
    /// Everything but this resource; may be repeated. What needs it waits, unless it is ready.
    #[arg(long, value_name = "KIND/NAME")]
    pub exclude: Vec<Key>,
}

/// What can be done with a saved plan beside applying it.
#[derive(Debug, Subcommand)]
pub enum PlanCommand {
    /// Show a saved plan: offline, without state, key or configuration, used and outdated ones too.
    Show(ShowArgs),
}

/// `plan show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The file that `plan --out` wrote.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Exit with 2 if it changes anything.
    #[arg(long)]
    pub detailed_exitcode: bool,
}
