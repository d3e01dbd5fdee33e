//! `suspend` and `resume`.

use clap::Args;

/// `suspend`.
#[derive(Debug, Args)]
pub struct SuspendArgs {
    /// What is left alone.
    #[arg(value_name = "KIND/NAME")]
    pub what: String,
    /// Why: others will read it.
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// When it goes on by itself: a moment (2026-11-30T12:00:00Z), a date (its first moment in UTC), or after
    /// so long (90m, 12h, 3d, 2w).
    #[arg(long, value_name = "TIME|DURATION")]
    pub until: Option<String>,
}

/// `resume`.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// What goes on.
    #[arg(value_name = "KIND/NAME")]
    pub what: String,
}
