//! Arguments of `hooks`: operators' scripts.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Subcommands of `hooks`.
#[derive(Debug, Subcommand)]
pub enum HooksCommand {
    /// Check every script as a compiler does; reports all problems in one run.
    Check,
    /// Run the test cases beside the scripts (NAME.test.yaml).
    Test(HooksTestArgs),
    /// Run the scripts of the folder on a known event, and show the actions that they would
    /// request. Nothing is done.
    Run(HooksRunArgs),
    /// Run the scripts of the folder on past events, and show the differences from the recorded
    /// hook runs.
    Shadow(HooksShadowArgs),
    /// List the scripts that the state knows: since when they are in use, the events that wait for
    /// each, and the values that they keep.
    List,
    /// Forget a script whose file is gone: its position in the events, and the values that it
    /// keeps. Until then events wait for it.
    Forget(HooksForgetArgs),
    /// Open a prompt for lines of a script, with everything that scripts can call: reads are made,
    /// actions only shown.
    Repl,
    /// List the functions that scripts can call, the events and their fields; -o markdown for a
    /// file.
    Doc,
}

/// Arguments of `hooks forget`.
#[derive(Debug, Args)]
pub struct HooksForgetArgs {
    /// The script: the name of its file without `.rhai`.
    #[arg(value_name = "NAME")]
    pub script: String,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
}

/// Arguments of `hooks test`.
#[derive(Debug, Args)]
pub struct HooksTestArgs {
    /// Run only cases whose script or name contains this text.
    #[arg(value_name = "FILTER")]
    pub filter: Option<String>,
    /// Write the results to this file in the `JUnit` format.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}

/// Arguments of `hooks run`.
#[derive(Debug, Args)]
pub struct HooksRunArgs {
    /// The event; `reckon events list` shows the newest ones.
    #[arg(value_name = "EVENT")]
    pub event: String,
    /// Write and send nothing; required, because there is no other mode.
    #[arg(long)]
    pub dry_run: bool,
    /// Only this script.
    #[arg(long, value_name = "NAME")]
    pub script: Option<String>,
}

/// Arguments of `hooks shadow`.
#[derive(Debug, Args)]
pub struct HooksShadowArgs {
    /// The start: a number of days, hours or minutes ago (7d, 12h, 30m), or a date or time.
    #[arg(long, value_name = "WHEN", default_value = "7d")]
    pub since: String,
    /// Only this script.
    #[arg(long, value_name = "NAME")]
    pub script: Option<String>,
}
