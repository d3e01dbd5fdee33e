//! Options of every command. A variable gives an option that the command line leaves out.

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, ColorChoice};

use crate::cli::args::output::OutputForm;

const HEADING: &str = "Global options";

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub struct GlobalArgs {
    /// The configuration file; ./reckon.yaml by default.
    #[arg(long, global = true, value_name = "FILE", env = "RECKON_CONFIG", hide_env_values = true)]
    pub config: Option<PathBuf>,
    /// The state directory; overrides the configuration's.
    #[arg(long, global = true, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Ask the daemon at this address, and keep no state here: https, or http on this machine.
    #[arg(long, global = true, value_name = "URL", env = "RECKON_SERVER", hide_env_values = true)]
    pub server: Option<String>,
    /// The file that holds the daemon's token.
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "RECKON_TOKEN_FILE",
        hide_env_values = true
    )]
    pub token_file: Option<PathBuf>,
    /// The form of the output.
    #[arg(short = 'o', long, global = true, value_name = "FORM", default_value = "text")]
    pub output: OutputForm,
    /// Colours in the output. `auto`: at a terminal, unless `NO_COLOR` is set.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    /// Log more; -vv logs still more, -vvv everything.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

impl GlobalArgs {
    /// Leaves out a daemon that only variables name, where the command line names a state; and a
    /// token file that only a variable names, where there is no daemon.
    pub fn prefer_command_line(&mut self, matches: &ArgMatches) {
        let by_variable = |name: &str| matches.value_source(name) == Some(ValueSource::EnvVariable);
        if self.state.is_some() && by_variable("server") {
            self.server = None;
        }
        if self.server.is_none() && by_variable("token_file") {
            self.token_file = None;
        }
    }
}
