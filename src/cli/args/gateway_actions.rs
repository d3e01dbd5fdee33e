//! Arguments of `gateway`: reads, and changes of the service that no document describes. The register
//! of actions declares the commands of the changes.

use std::ffi::{OsStr, OsString};

use clap::builder::ValueParser;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};
use serde_json::Value;

use crate::base::id::Name;
use crate::effects::actions::{ActionRow, FieldInput, InputForm};
use crate::effects::register::{ACTIONS, action_row};

/// Subcommands of `gateway`.
#[derive(Debug, Subcommand)]
pub enum GatewayCommand {
    #[command(flatten)]
    Change(GatewayChange),
    /// Show the service's answer to a read; without a name, list the reads.
    Get(GatewayGetArgs),
}

/// Arguments of `gateway get`.
#[derive(Debug, Args)]
pub struct GatewayGetArgs {
    /// The read, such as `card.list`.
    pub read: Option<String>,
    /// The values of its path, in order, and its query as `name=value`.
    #[arg(value_name = "VALUE|NAME=VALUE")]
    pub given: Vec<String>,
    /// The merchant's document: NAME, or NAMESPACE/NAME.
    #[arg(long, value_name = "NAME")]
    pub merchant: Option<String>,
    /// The body of `recurring.preview`, as JSON.
    #[arg(long, value_name = "JSON")]
    pub body: Option<String>,
}

/// A subcommand of `gateway` that changes the service: one action of the register.
#[derive(derive_more::Debug)]
#[debug("GatewayChange({})", row.verb)]
pub struct GatewayChange {
    pub row: &'static ActionRow,
    /// Fields of the action, with an empty value in place of its input.
    pub fields: Value,
    /// Values of the argument for the input; none for an action without input.
    pub input: Vec<OsString>,
    pub common: ActionArgs,
}

// Arguments of every action. A doc comment would replace the description of each command.
#[derive(Debug, Args)]
pub struct ActionArgs {
    /// The merchant's document: NAME, or NAMESPACE/NAME.
    #[arg(long, value_name = "NAME")]
    pub merchant: String,
    /// The action's name, for ever: one name does one thing, once. By default it is derived from
    /// the arguments, so that the same command given twice is done once.
    #[arg(long, value_name = "NAME")]
    pub name: Option<Name>,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
}

/// Returns the command of an action: its fields, its input, and the arguments of every action.
fn subcommand(row: &ActionRow) -> Command {
    let command = (row.add_arguments)(Command::new(row.verb));
    ActionArgs::augment_args(command.args(row.input.as_ref().map(input_argument)))
}

fn input_argument(input: &FieldInput) -> Arg {
    let argument = Arg::new(input.field).required(true).help(input.help);
    match input.form {
        InputForm::Settings(_) => {
            argument.long("set").value_name("NAME=VALUE").action(ArgAction::Append)
        }
        InputForm::File => argument.value_name("FILE").value_parser(ValueParser::path_buf()),
        InputForm::Strokes => {
            argument.long("data").value_name("FILE").value_parser(ValueParser::path_buf())
        }
        InputForm::Token => argument.long("token").value_name("TOKEN"),
    }
}

impl FromArgMatches for GatewayChange {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let named = matches.subcommand().and_then(|(verb, given)| Some((action_row(verb)?, given)));
        let (row, given) = named.ok_or_else(|| Error::new(ErrorKind::MissingSubcommand))?;
        let (fields, common) = ((row.read_arguments)(given)?, ActionArgs::from_arg_matches(given)?);
        let input = row.input.and_then(|input| given.get_raw(input.field));
        let input = input.into_iter().flatten().map(OsStr::to_owned).collect();
        Ok(Self { row, fields, input, common })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for GatewayChange {
    fn augment_subcommands(command: Command) -> Command {
        ACTIONS.iter().fold(command, |command, row| command.subcommand(subcommand(row)))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        action_row(name).is_some()
    }
}
