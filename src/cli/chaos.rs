//! `chaos`: the simulator as a command.

use super::args::ChaosArgs;
use super::exit::{CommandFailure, Exit};
use super::out::Printer;
use super::signals::counter;
use crate::sim;

/// Runs the command. A failure of the product exits with 5, a bug of ours.
pub(super) fn run(args: &ChaosArgs, out: Printer) -> Result<Exit, CommandFailure> {
    let counter = counter(u64::from(args.runs), "worlds");
    let report = sim::chaos(args.seed, args.runs, &mut |done| counter.set(u64::from(done)));
    drop(counter);
    out.result(&report, || report.to_string())?;
    Ok(if report.is_clean() { Exit::Done } else { Exit::Bug })
}
