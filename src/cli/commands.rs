//! Dispatch of every command to its module.

use super::args::{Cli, CliCommand};
use super::exit::{CommandFailure, Exit};
use super::out::Printer;
use super::setup::Context;
use super::{
    apply, approve, attach, events, explain, forget, gateway, get, hooks, import, init, intents,
    link, plan, run, sandbox, seal, signed, store, suspend, validate, why,
};

/// Runs the requested command.
pub(super) async fn run(cli: &Cli, out: Printer) -> Result<Exit, CommandFailure> {
    match &cli.command {
        CliCommand::Init(args) => init::run(cli, args, out).await,
        CliCommand::Chaos(_) => Err(CommandFailure::bug(
            "internal error: the simulator was started inside a \
            command",
        )),
        CliCommand::Sandbox(args) => sandbox::run(cli, args, out).await,
        CliCommand::Validate(args) => validate::run(&Context::load(cli)?, args, out),
        CliCommand::Plan(args) => plan::run(cli, args, out).await,
        CliCommand::Apply(args) => apply::run(&Context::load(cli)?, args, out).await,
        CliCommand::Approve(args) if let Some(file) = signed::file_without_config(args) => {
            signed::write(None, args, file, out).await
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
        CliCommand::Events(command) => events::run(&Context::load(cli)?, command, out).await,
        CliCommand::Attach(args) => attach::run(&Context::load(cli)?, args, out).await,
        CliCommand::Explain(args) => explain::run(args, out),
        CliCommand::Schema(args) => explain::schema(args, out),
        CliCommand::Intents(args) => intents::run(&Context::load(cli)?, args, out).await,
        CliCommand::Gateway(command) => gateway::run(&Context::load(cli)?, command, out).await,
        CliCommand::Hooks(command) => Box::pin(hooks::run(cli, command, out)).await,
        CliCommand::Seal(args) => seal::run(&Context::load(cli)?, args, out),
        CliCommand::Why(args) => why::run(&Context::load(cli)?, args, out).await,
        CliCommand::Store(command) => store::run(&Context::load(cli)?, command, out).await,
    }
}
