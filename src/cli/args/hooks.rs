//! `hooks`: operators' scripts.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `hooks`.
#[derive(Debug, Subcommand)]
pub enum HooksCommand {
    /// Check every script like a compiler: all problems, in one run.
    Check,
    /// Run the cases that stand beside the scripts (NAME.test.yaml).
    Test(HooksTestArgs),
    /// What scripts can call, which events there are, and what they hold; -o markdown for a file.
    Doc,
}

/// `hooks test`.
#[derive(Debug, Args)]
pub struct HooksTestArgs {
    /// Run only cases whose script or name holds this.
    #[arg(value_name = "FILTER")]
    pub filter: Option<String>,
    /// Write the results in this file, as `JUnit` reads them.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}
