//! `chaos`: the simulator as a command.

use crate::cli::args::options::ChaosArgs;
use crate::cli::daemon::signals::counter;
use crate::cli::output::exit::{CommandFailure, Exit};
use crate::cli::output::print::Printer;
use crate::sim;

/// Runs the command. A failure of the product exits with 5, a bug of ours.
pub(crate) fn run(args: &ChaosArgs, out: Printer) -> Result<Exit, CommandFailure> {
    let counter = counter(u64::from(args.runs), "worlds");
    let report =
        sim::report::chaos::chaos(args.seed, args.runs, &mut |done| counter.set(u64::from(done)));
    drop(counter);
    out.result(&report, || report.to_string())?;
    Ok(if report.is_clean() { Exit::Done } else { Exit::Bug })
}
