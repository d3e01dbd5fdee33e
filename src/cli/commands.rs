//! Dispatch of every command to its module.

use super::args::{Cli, Command};
use super::exit::{Exit, Failure};
use super::out::Out;
use super::setup::Setup;
use super::{
    apply, approve, attach, events, explain, forget, gateway, get, hooks, import, init, intents,
    link, plan, run, sandbox, seal, signed, store, suspend, validate, why,
};

/// Runs the requested command.
pub(super) async fn run(cli: &Cli, out: Out) -> Result<Exit, Failure> {
    match &cli.command {
        Command::Init(args) => init::run(cli, args, out).await,
        Command::Chaos(_) => Err(Failure::bug("the simulator runs outside")),
        Command::Sandbox(args) => sandbox::run(cli, args, out).await,
        Command::Validate(args) => validate::run(&Setup::load(cli)?, args, out),
        Command::Plan(args) => plan::run(cli, args, out).await,
        Command::Apply(args) => apply::run(&Setup::load(cli)?, args, out).await,
        Command::Approve(args) if let Some(file) = signed::alone(args) => {
            signed::write(None, args, file, out).await
        }
        Command::Approve(args) => approve::run(&Setup::load(cli)?, args, out).await,
        Command::Suspend(args) => suspend::run(&Setup::load(cli)?, args, out).await,
        Command::Resume(args) => suspend::resume(&Setup::load(cli)?, args, out).await,
        Command::Import(args) => import::run(&Setup::load(cli)?, args, out).await,
        Command::Forget(args) => forget::run(&Setup::load(cli)?, args, out).await,
        Command::Run(args) => run::run(Setup::load(cli)?, args, out).await,
        Command::Get(args) => get::run(&Setup::load(cli)?, args, out).await,
        Command::Describe(args) => get::describe(&Setup::load(cli)?, args, out).await,
        Command::Link(args) => link::run(&Setup::load(cli)?, args, out).await,
        Command::Events(command) => events::run(&Setup::load(cli)?, command, out).await,
        Command::Attach(args) => attach::run(&Setup::load(cli)?, args, out).await,
        Command::Explain(args) => explain::run(args, out),
        Command::Schema(args) => explain::schema(args, out),
        Command::Intents(args) => intents::run(&Setup::load(cli)?, args, out).await,
        Command::Gateway(command) => gateway::run(&Setup::load(cli)?, command, out).await,
        Command::Hooks(command) => Box::pin(hooks::run(cli, command, out)).await,
        Command::Seal(args) => seal::run(&Setup::load(cli)?, args, out),
        Command::Why(args) => why::run(&Setup::load(cli)?, args, out).await,
        Command::Store(command) => store::run(&Setup::load(cli)?, command, out).await,
    }
}
