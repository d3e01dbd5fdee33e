//! Arguments that choose a daemon on another machine.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `--server URL --token-file FILE`.
#[derive(Debug, Args)]
pub struct ServerArgs {
    /// Ask the daemon at this address, and keep no state here: https, or http on this machine.
    #[arg(
        long,
        global = true,
        value_name = "URL",
        requires = "token_file",
        conflicts_with = "state"
    )]
    pub server: Option<String>,
    /// The file that holds the daemon's token.
    #[arg(long, global = true, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}
