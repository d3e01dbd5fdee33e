//! Arguments of `completions` and `man`.

use clap::Args;
use clap_complete::Shell;

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The words of the command, such as `store backup`; without them: the program itself.
    #[arg(value_name = "COMMAND")]
    pub command: Vec<String>,
}
