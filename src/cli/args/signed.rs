//! Arguments of `approve` for signed commits.

use std::path::PathBuf;

use clap::Args;

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
