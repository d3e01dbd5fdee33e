//! Dispatch of every command to its module.

use super::args::events::HooksCommand;
use super::commands::applying::apply;
use super::commands::events::list;
use super::commands::hooks::{comparison, overview, repl, test, trial_run as hooks_run};
use super::commands::inspect::{get, intents, validate, why};
use super::commands::planning::{against, approval_file, approve, plan};
use super::commands::sandbox::command;
use super::commands::store::check;
use super::commands::{forget, gateway_actions, import, init, payer_links, seal, suspend};
use super::exit::{CommandFailure, Exit};
use super::print::Printer;
use crate::cli::args::options::{Cli, CliCommand};
use crate::cli::context::open::Context;
use crate::cli::daemon::run;

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
        CliCommand::Plan(args) if let Some(range) = &args.against => {
            against::run(&Context::load(cli)?, args, range, out)
        }
        CliCommand::Plan(args) => plan::run(cli, args, out).await,
        CliCommand::Apply(args) => apply::run(&Context::load(cli)?, args, out).await,
        CliCommand::Approve(args) if let Some(file) = approval_file::file_without_config(args) => {
            approval_file::write(None, args, file, out).await
        }
        CliCommand::Approve(args) => approve::run(&Context::load(cli)?, args, out).await,
        CliCommand::Suspend(args) => suspend::run(&Context::load(cli)?, args, out).await,
        CliCommand::Resume(args) => suspend::resume(&Context::load(cli)?, args, out).await,
        CliCommand::Import(args) => import::run(&Context::load(cli)?, args, out).await,
        CliCommand::Forget(args) => forget::run(&Context::load(cli)?, args, out).await,
        CliCommand::Run(args) => Box::pin(run::run(Context::load(cli)?, args, out)).await,
        CliCommand::Get(args) => get::run(&Context::load(cli)?, args, out).await,
        CliCommand::Describe(args) => get::describe(&Context::load(cli)?, args, out).await,
        CliCommand::Link(args) => payer_links::run(&Context::load(cli)?, args, out).await,
        CliCommand::Events(command) => list::run(&Context::load(cli)?, command, out).await,
        CliCommand::Attach(args) => payer_links::attach(&Context::load(cli)?, args, out).await,
        CliCommand::Explain(args) => validate::explain(args, out),
        CliCommand::Schema(args) => validate::schema(args, out),
        CliCommand::Intents(args) => intents::run(&Context::load(cli)?, args, out).await,
        CliCommand::Gateway(command) => {
            gateway_actions::run(&Context::load(cli)?, command, out).await
        }
        CliCommand::Hooks(command) => Box::pin(hooks(cli, command, out)).await,
        CliCommand::Seal(args) => seal::run(&Context::load(cli)?, args, out),
        CliCommand::Why(args) => why::run(&Context::load(cli)?, args, out).await,
        CliCommand::Store(command) => check::run(&Context::load(cli)?, command, out).await,
    }
}

/// Runs one of the subcommands of `hooks`.
async fn hooks(cli: &Cli, command: &HooksCommand, out: Printer) -> Result<Exit, CommandFailure> {
    match command {
        HooksCommand::Check => overview::check(&Context::load(cli)?, out),
        HooksCommand::Test(args) => test::run(&Context::load(cli)?, args, out),
        HooksCommand::Try(args) => hooks_run::run(&Context::load(cli)?, args, out).await,
        HooksCommand::Diff(args) => comparison::run(&Context::load(cli)?, args, out).await,
        HooksCommand::List => overview::list(&Context::load(cli)?, out).await,
        HooksCommand::Forget(args) => overview::forget(&Context::load(cli)?, args, out).await,
        HooksCommand::Repl => repl::run(&Context::load(cli)?, out).await,
        HooksCommand::Doc => overview::doc(out),
    }
}
