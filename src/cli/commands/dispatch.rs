//! Dispatch of every command to its module.

use super::adopt::{forget, import};
use super::applying::apply;
use super::events::list;
use super::gateway::actions;
use super::hooks::overview;
use super::inspect::{explain, get, intents, validate, why};
use super::payers::{attach, link};
use super::planning::{approve, plan};
use super::sandbox::command;
use super::signed::write;
use super::store::check;
use super::{init, seal, suspend};
use crate::cli::args::options::{Cli, CliCommand};
use crate::cli::context::open::Context;
use crate::cli::daemon::run;
use crate::cli::output::exit::{CommandFailure, Exit};
use crate::cli::output::print::Printer;

/// Runs the requested command.
pub(crate) async fn run(cli: &Cli, out: Printer) -> Result<Exit, CommandFailure> {
    match &cli.command {
        CliCommand::Init(args) => init::run(cli, args, out).await,
        CliCommand::Chaos(_) => Err(CommandFailure::bug(
            "internal error: the simulator was started inside a \
            command",
        )),
        CliCommand::Sandbox(args) => command::run(cli, args, out).await,
        CliCommand::Validate(args) => validate::run(&Context::load(cli)?, args, out),
        CliCommand::Plan(args) => plan::run(cli, args, out).await,
        CliCommand::Apply(args) => apply::run(&Context::load(cli)?, args, out).await,
        CliCommand::Approve(args) if let Some(file) = write::file_without_config(args) => {
            write::write(None, args, file, out).await
        }
        CliCommand::Approve(args) => approve::run(&Context::load(cli)?, args, out).await,
        CliCommand::Suspend(args) => suspend::run(&Context::load(cli)?, args, out).await,
        CliCommand::Resume(args) => suspend::resume(&Context::load(cli)?, args, out).await,
        CliCommand::Import(args) => import::run(&Context::load(cli)?, args, out).await,
        CliCommand::Forget(args) => forget::run(&Context::load(cli)?, args, out).await,
        CliCommand::Run(args) => run::run(Context::load(cli)?, args, out).await,
        CliCommand::Get(args) => get::run(&Context::load(cli)?, args, out).await,
        CliCommand::Describe(args) => get::describe(&Context::load(cli)?, args, out).await,
        CliCommand::Link(args) => link::run(&Context::load(cli)?, args, out).await,
        CliCommand::Events(command) => list::run(&Context::load(cli)?, command, out).await,
        CliCommand::Attach(args) => attach::run(&Context::load(cli)?, args, out).await,
        CliCommand::Explain(args) => explain::run(args, out),
        CliCommand::Schema(args) => explain::schema(args, out),
        CliCommand::Intents(args) => intents::run(&Context::load(cli)?, args, out).await,
        CliCommand::Gateway(command) => actions::run(&Context::load(cli)?, command, out).await,
        CliCommand::Hooks(command) => Box::pin(overview::run(cli, command, out)).await,
        CliCommand::Seal(args) => seal::run(&Context::load(cli)?, args, out),
        CliCommand::Why(args) => why::run(&Context::load(cli)?, args, out).await,
        CliCommand::Store(command) => check::run(&Context::load(cli)?, command, out).await,
    }
}
