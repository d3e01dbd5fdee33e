//! Command line interface: reads arguments and environment, assembles the parts, prints the
//! results.

use std::io::IsTerminal;
use std::num::NonZeroUsize;

use clap::Parser;
use clap::error::ErrorKind;
use serde_json::json;
use tracing_subscriber::EnvFilter;

use super::args::options::{ChaosArgs, Cli, CliCommand, Output};
use super::context::machine;
use super::exit::{CommandFailure, Exit};
use super::print::Printer;
use super::{dispatch, print};
use crate::sim;

/// Runs the command line of this process and returns its exit code.
pub fn main() -> u8 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(usage) => return print_usage(&usage),
    };
    start_logging(&cli);
    machine::harden_process();
    crate::client::transport::install_crypto();
    let out = Printer::new(cli.output);
    if let CliCommand::Chaos(args) = &cli.command {
        // The simulator brings its own runtime and its own time.
        return exit_code(run(args, out), out);
    }
    let cores = std::thread::available_parallelism().ok();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers(cores))
        .enable_all()
        .build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(dispatch::run(&cli, out)),
        Err(error) => Err(CommandFailure::environment("reckon::runtime", error)),
    };
    exit_code(result, out)
}

/// Returns the number of threads for asynchronous work: one for each core that this process may
/// use, at least two.
fn workers(cores: Option<NonZeroUsize>) -> usize {
    cores.map_or(2, |cores| cores.get().max(2))
}

/// Prints a failure, and returns the exit code of the command's result.
fn exit_code(result: Result<Exit, CommandFailure>, out: Printer) -> u8 {
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

/// Starts logging to standard error; `-v` logs more, `-vvv` everything. Bodies and secrets are in
/// no log line. The simulator's worlds fail all the time, so the simulator logs nothing by default.
fn start_logging(cli: &Cli) {
    let level = match (cli.verbose, &cli.command) {
        (0, CliCommand::Chaos(_)) => "off",
        (0, CliCommand::Run(_)) => "reckon::effects=info,warn",
        (0, _) => "warn",
        (1, _) => "reckon=info,warn",
        (2, _) => "reckon=debug,info",
        (3.., _) => "trace",
    };
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(level))
        .with_writer(|| print::Stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false);
    // A second initialisation, in tests, keeps the first.
    drop(subscriber.try_init());
}

/// Prints the failure of a command, in the requested output form, and returns its exit code.
fn print_failure(failure: &CommandFailure, out: Printer) -> u8 {
    if out.form == Output::Json {
        let error = json!({"error": {
            "code": failure.code,
            "message": failure.message,
            "help": failure.help,
            "problems": failure.problems,
        }});
        out.note(&error.to_string());
    } else {
        out.note(&format!("error[{}]: {}", failure.code, failure.message));
        if let Some(help) = &failure.help {
            out.note(&format!("  help: {help}"));
        }
    }
    failure.exit.code()
}

// `chaos`: the simulator as a command.

/// Runs the command. A failure of the product exits with 5, a bug of ours.
pub(crate) fn run(args: &ChaosArgs, out: Printer) -> Result<Exit, CommandFailure> {
    let counter = machine::counter(u64::from(args.runs), "worlds");
    let report = sim::chaos::chaos(args.seed, args.runs, &mut |done| counter.set(u64::from(done)));
    drop(counter);
    out.result(&report, || report.to_string())?;
    Ok(if report.is_clean() { Exit::Done } else { Exit::Bug })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closes item C11: a machine of many cores is used.
    #[test]
    fn c11_each_core_has_a_thread() {
        let of = |cores| workers(NonZeroUsize::new(cores));
        assert_eq!([of(0), of(1), of(2), of(64)], [2, 2, 2, 64]);
    }
}
