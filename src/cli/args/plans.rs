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

// Arguments of `approve` for signed commits.

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
