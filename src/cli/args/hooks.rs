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
    /// Run the scripts of the folder on an event that is known, and show what they would ask for. Nothing is done.
    Run(HooksRunArgs),
    /// Run the scripts of the folder on the events of a while, and show what they would do otherwise than was done.
    Shadow(HooksShadowArgs),
    /// List the scripts that the state knows: since when they are in use, the events that wait for each, and what they keep.
    List,
    /// Forget a script whose file is gone: its place in the events, and what it keeps. Until then events wait for it.
    Forget(HooksForgetArgs),
    /// A prompt for lines of a script, with everything that scripts can call: reads are made, actions only shown.
    Repl,
    /// What scripts can call, which events there are, and what they hold; -o markdown for a file.
    Doc,
}

/// `hooks forget`.
#[derive(Debug, Args)]
pub struct HooksForgetArgs {
    /// The script: the name of its file without `.rhai`.
    #[arg(value_name = "NAME")]
    pub script: String,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
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

/// `hooks run`.
#[derive(Debug, Args)]
pub struct HooksRunArgs {
    /// The event; `reckon events list` shows the newest ones.
    #[arg(value_name = "EVENT")]
    pub event: String,
    /// Nothing is written down or sent: the only way there is.
    #[arg(long)]
    pub dry_run: bool,
    /// Only this script.
    #[arg(long, value_name = "NAME")]
    pub script: Option<String>,
}

/// `hooks shadow`.
#[derive(Debug, Args)]
pub struct HooksShadowArgs {
    /// From when on: so many days, hours or minutes ago (7d, 12h, 30m), or a date or time.
    #[arg(long, value_name = "WHEN", default_value = "7d")]
    pub since: String,
    /// Only this script.
    #[arg(long, value_name = "NAME")]
    pub script: Option<String>,
}
