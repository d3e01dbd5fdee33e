//! Runs the command line: argv in, one report out, exit code.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// Chosen by measurement: docs/performance.md, "The allocator".
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(reckon::cli::entry::main())
}
