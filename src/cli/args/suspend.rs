//! Arguments of `suspend` and `resume`.

use clap::Args;

/// Arguments of `suspend`.
#[derive(Debug, Args)]
pub struct SuspendArgs {
    /// The resource to suspend, or the merchant with all its resources.
    #[arg(value_name = "KIND/NAME")]
    pub what: String,
    /// The reason, for others to read.
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// The automatic end: a moment (2026-11-30T12:00:00Z), a date (its first moment in UTC), or a
    /// duration from now (90m, 12h, 3d, 2w).
    #[arg(long, value_name = "TIME|DURATION")]
    pub until: Option<String>,
}

/// Arguments of `resume`.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The resource or merchant to resume.
    #[arg(value_name = "KIND/NAME")]
    pub what: String,
}
