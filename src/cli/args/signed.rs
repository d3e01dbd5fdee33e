//! `approve` and signed commits.

use std::path::PathBuf;

use clap::Args;

/// Approvals in signed commits.
#[derive(Debug, Args)]
pub struct SignedArgs {
    /// Do not approve now: write the approval to this file, which counts once it is committed, alone and signed.
    #[arg(long, value_name = "FILE", conflicts_with = "signed")]
    pub write: Option<PathBuf>,
    /// When the written approval ends: a moment, a date (its first moment in UTC), or after so long (12h, 3d, 2w).
    #[arg(long, value_name = "TIME|DURATION", requires = "write")]
    pub expires: Option<String>,
    /// Take in the approvals of signed commits that are checked out, and tell how each file stands.
    #[arg(long, conflicts_with_all = ["what", "ceiling", "yes"])]
    pub signed: bool,
}
