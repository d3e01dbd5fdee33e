//! Command line interface: reads arguments and environment, assembles the parts, and dispatches
//! every command to its module.

use std::num::NonZeroUsize;

use clap::error::ErrorKind;
use clap::{ColorChoice, FromArgMatches, ValueEnum};

use crate::cli::args::events::HooksCommand;
use crate::cli::args::options::{self, Cli, CliCommand};
use crate::cli::args::output::{Output, OutputForm};
use crate::cli::args::sandbox::ChaosArgs;
use crate::cli::commands::page::link;
use crate::cli::commands::planning::{apply, approve, plan};
use crate::cli::commands::sandbox::command;
use crate::cli::commands::waiting::{reconcile, wait};
use crate::cli::commands::{
    documents, events, gateway_actions, get, holds, hook_repl, hook_trials, hooks, import, init,
    links, new, resources, shell, store, why,
};
use crate::cli::context::machine;
use crate::cli::context::open::Context;
use crate::cli::daemon::run;
use crate::cli::exit::{CommandFailure, CommandResult, ErrorOutput, Exit};
use crate::cli::logging;
use crate::cli::print::{self, Printer};
use crate::{render, sim};

/// Runs the command line of this process and returns its exit code.
pub fn main() -> u8 {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    print::use_color(asked_color(words));
    let cli = match parse() {
        Ok(cli) => cli,
        Err(usage) => return print_usage(&usage),
    };
    logging::start(&cli);
    machine::harden_process();
    crate::client::transport::install_crypto();
    let out = Printer::new(cli.global.output.common());
    let report = cli.global.output.report();
    let out = Printer { report, details: cli.global.verbose > 0, ..out };
    if let CliCommand::Chaos(args) = &cli.command {
        // The simulator brings its own runtime and its own time.
        return exit_code(run_simulator(args, out), out);
    }
    let cores = std::thread::available_parallelism().ok();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers(cores))
        .enable_all()
        .build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(run_command(&cli, out)),
        Err(error) => Err(CommandFailure::environment("reckon::runtime", error)),
    };
    exit_code(result, out)
}

fn parse() -> Result<Cli, clap::Error> {
    let matches = options::command().try_get_matches()?;
    let mut cli = Cli::from_arg_matches(&matches)?;
    cli.global.prefer_command_line(&matches);
    Ok(cli)
}

/// Returns the value of `--color`, by the words alone: help and wrong arguments obey it, too.
fn asked_color(words: impl Iterator<Item = String>) -> ColorChoice {
    let mut words = words.take_while(|word| word != "--");
    let mut asked = ColorChoice::Auto;
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--color") {
            Some("") => words.next(),
            Some(rest) => rest.strip_prefix('=').map(str::to_owned),
            None => None,
        };
        let value = value.and_then(|value| ColorChoice::from_str(&value, false).ok());
        asked = value.unwrap_or(asked);
    }
    asked
}

/// Returns the number of threads: one for each core that this process may use, at least two.
fn workers(cores: Option<NonZeroUsize>) -> usize {
    cores.map_or(2, |cores| cores.get().max(2))
}

fn exit_code(result: CommandResult, out: Printer) -> u8 {
    match result {
        Ok(exit) => exit.code(),
        Err(failure) => print_failure(&failure, out),
    }
}

/// Prints clap's message. Help and version exit with 0, everything else with 1.
fn print_usage(usage: &clap::Error) -> u8 {
    // A closed terminal cannot show an error either.
    drop(usage.print());
    let asked = [ErrorKind::DisplayHelp, ErrorKind::DisplayVersion].contains(&usage.kind());
    if asked { Exit::Done.code() } else { Exit::Input.code() }
}

fn print_failure(failure: &CommandFailure, out: Printer) -> u8 {
    if out.form == Output::Json {
        out.note(&render::json_line(&ErrorOutput::from(failure)));
    } else {
        out.note(&format!("error[{}]: {}", failure.code, failure.message));
        if let Some(help) = &failure.help {
            out.note(&format!("  help: {help}"));
        }
    }
    failure.exit.code()
}

/// Runs the command. A failure of the product exits with 5, a bug of ours.
pub(crate) fn run_simulator(args: &ChaosArgs, out: Printer) -> CommandResult {
    let counter = machine::counter(u64::from(args.runs), "worlds");
    let report = sim::chaos::chaos(args.seed, args.runs, &mut |done| counter.set(u64::from(done)));
    drop(counter);
    out.result(&report, || report.to_string())?;
    Ok(if report.is_clean() { Exit::Done } else { Exit::Bug })
}

pub(crate) async fn run_command(cli: &Cli, out: Printer) -> CommandResult {
    let setup = || Context::load(cli, out);
    check_output(cli)?;
    match &cli.command {
        CliCommand::Init(args) => init::run(cli, args, out).await,
        CliCommand::Chaos(_) => {
            Err(CommandFailure::bug("internal error: the simulator was started inside a command"))
        }
        CliCommand::Sandbox(args) => command::run(cli, args, out).await,
        CliCommand::Validate(args) => documents::validate(&setup()?, args),
        CliCommand::Plan(args) if let Some(range) = &args.against => {
            plan::plan_against(&setup()?, args, range)
        }
        CliCommand::Plan(args) => plan::run(cli, args, out).await,
        CliCommand::Apply(args) => apply::run(&setup()?, args).await,
        CliCommand::Approve(args) if let Some(file) = approve::file_without_config(args) => {
            approve::write_file(None, args, file, out).await
        }
        CliCommand::Approve(args) => approve::run(&setup()?, args).await,
        CliCommand::Suspend(args) => resources::suspend(&setup()?, args).await,
        CliCommand::Resume(args) => resources::resume(&setup()?, args).await,
        CliCommand::Freeze(args) => holds::freeze(&setup()?, args).await,
        CliCommand::Thaw => holds::thaw(&setup()?).await,
        CliCommand::Sync(args) => holds::sync(&setup()?, args).await,
        CliCommand::Page => link::run(&setup()?).await,
        CliCommand::Import(args) => import::run(&setup()?, args).await,
        CliCommand::Forget(args) => init::forget(&setup()?, args).await,
        CliCommand::Run(args) => Box::pin(run::run(cli, args, out)).await,
        CliCommand::Reconcile(args) => reconcile::run(&setup()?, args).await,
        CliCommand::Wait(args) => wait::run(&setup()?, args).await,
        CliCommand::Completions(args) => shell::completions(args, out),
        CliCommand::Man(args) => shell::man(args, out),
        CliCommand::Status => resources::status(&setup()?).await,
        CliCommand::Get(args) => get::run(&setup()?, args, cli.global.output).await,
        CliCommand::Describe(args) => resources::describe(&setup()?, args).await,
        CliCommand::Link(args) => links::run(&setup()?, args).await,
        CliCommand::Events(command) => events::run(&setup()?, command).await,
        CliCommand::Attach(args) => links::attach(&setup()?, args).await,
        CliCommand::New(args) => new::run(&setup()?, args),
        CliCommand::Explain(args) => documents::explain(args, out),
        CliCommand::Schema(args) => documents::schema(args, out),
        CliCommand::Intents(args) => resources::intents(&setup()?, args).await,
        CliCommand::Gateway(command) => gateway_actions::run(&setup()?, command).await,
        CliCommand::Hooks(HooksCommand::Doc) => hooks::doc(out),
        CliCommand::Hooks(command) => Box::pin(run_hooks(&setup()?, command)).await,
        CliCommand::Seal(args) => documents::seal(&setup()?, args),
        CliCommand::Why(args) => why::run(&setup()?, args).await,
        CliCommand::Store(command) => store::run(&setup()?, command).await,
    }
}

/// Refuses the forms of lists for commands that print no list of resources, and the forms of
/// findings for commands that have none.
fn check_output(cli: &Cli) -> CommandResult<()> {
    let is_list = matches!(cli.global.output, OutputForm::List(_));
    if is_list && !matches!(cli.command, CliCommand::Get(_)) {
        let what = "-o wide, name and csv are forms of `reckon get` alone";
        return Err(CommandFailure::input("reckon::usage::output", what)
            .help("write -o text, json or yaml"));
    }
    let is_plan = matches!(&cli.command, CliCommand::Plan(args) if args.command.is_none());
    let has_findings = is_plan || matches!(cli.command, CliCommand::Validate(_));
    if cli.global.output.report().is_some() && !has_findings {
        let what = "-o sarif, junit, github and gitlab are forms of `reckon validate` and `reckon plan` alone";
        return Err(CommandFailure::input("reckon::usage::output", what)
            .help("write -o text, json or yaml"));
    }
    Ok(())
}

async fn run_hooks(setup: &Context, command: &HooksCommand) -> CommandResult {
    match command {
        HooksCommand::Check => hooks::check(setup),
        HooksCommand::Test(args) => hooks::test(setup, args),
        HooksCommand::Try(args) => hook_trials::try_scripts(setup, args).await,
        HooksCommand::Diff(args) => hook_trials::diff(setup, args).await,
        HooksCommand::List => hooks::list(setup).await,
        HooksCommand::Forget(args) => hooks::forget(setup, args).await,
        HooksCommand::Repl => hook_repl::run(setup).await,
        HooksCommand::Doc => hooks::doc(setup.out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colour_is_known_before_the_arguments_are_parsed() {
        let asked = |line: &str| asked_color(line.split(' ').map(str::to_owned));
        assert_eq!(asked("reckon get"), ColorChoice::Auto);
        assert_eq!(asked("reckon --color=always aply"), ColorChoice::Always);
        assert_eq!(asked("reckon get --color never --help"), ColorChoice::Never);
        assert_eq!(asked("reckon get --colors=always --color nope"), ColorChoice::Auto);
        assert_eq!(asked("reckon why -- --color=always"), ColorChoice::Auto);
    }

    /// Closes item C11: a machine of many cores is used.
    #[test]
    fn c11_each_core_has_a_thread() {
        let of = |cores| workers(NonZeroUsize::new(cores));
        assert_eq!([of(0), of(1), of(2), of(64)], [2, 2, 2, 64]);
    }
}
