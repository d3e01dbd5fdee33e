//! Arguments of plans: the choice of resources, and subcommands for saved plans.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::base::id::Key;

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
