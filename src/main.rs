//! Runs the command line: argv in, one report out, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(reckon::cli::entry::main())
}
