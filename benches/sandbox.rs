//! Costs of the emulator, against a limit program and a peer that are measured in the same run.
//!
//! `cargo bench --bench sandbox -- [E1] [E2] [Y] [--objects 20000] [--charges 1000,10000] [--rounds 5] [--json]`;
//! without a name, all. Figures are the median and the worst round; only the ratios are meaningful on another
//! machine. A missed goal is printed with its figure, and an impossible measurement with the reason. One table at the
//! end; progress on a terminal alone.
//!
//! `RECKON_PEERS` names a Python in which `localstripe` is installed.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]
#![expect(clippy::disallowed_methods, reason = "the bench measures real time")]

use clap::{Parser, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::connection::Failed;
use crate::report::{Progress, Report};

#[path = "../examples/rig/connection.rs"]
mod connection;
#[path = "../examples/rig/control.rs"]
mod control;
#[path = "../tests/oracle/drawn.rs"]
mod drawn;
#[path = "sandbox/e1_e2.rs"]
mod e1_e2;
#[path = "../tests/oracle/emulator.rs"]
mod emulator;
#[path = "reconcile/figures.rs"]
mod figures;
#[path = "limits/kept.rs"]
mod kept;
#[path = "sandbox/load.rs"]
#[expect(dead_code, reason = "the bench needs no time of each answer")]
mod load;
#[path = "reconcile/meter.rs"]
#[expect(dead_code, reason = "only running processes are measured here")]
mod meter;
#[path = "sandbox/objects.rs"]
mod objects;
#[path = "reconcile/report.rs"]
mod report;
#[path = "sandbox/served.rs"]
mod served;
#[path = "sandbox/year.rs"]
mod year;

/// The program's own allocator: Y measures its code in this process.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "UPPER")]
enum Goal {
    /// Objects made and read, 16 connections.
    E1,
    /// Start and memory.
    E2,
    /// A virtual year of recurring charges.
    Y,
}

/// Measures the costs of the emulator.
#[derive(Debug, Parser)]
struct Arguments {
    /// Which goals; all, if none is named.
    #[arg(value_enum, ignore_case = true)]
    goals: Vec<Goal>,
    /// Number of objects that are made and read, at the sandbox and at the limit program.
    #[arg(long, default_value_t = 20_000)]
    objects: usize,
    /// The same number for localstripe, which writes all objects to the disk each time.
    #[arg(long, default_value_t = 500)]
    peer_objects: usize,
    /// Numbers of recurring charges, one year for each.
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 10_000])]
    charges: Vec<usize>,
    /// Most rounds of each figure. A year has five up to 10,000 charges, three up to 100,000, else one.
    #[arg(long, default_value_t = 5, value_parser = figures::rounds)]
    rounds: usize,
    /// The seed of the recurring charges.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Another program than the one that cargo built for this.
    #[arg(long, default_value = env!("CARGO_BIN_EXE_reckon"))]
    binary: PathBuf,
    /// Print one JSON object for each figure in place of the table.
    #[arg(long)]
    json: bool,
    /// Run as the limit program.
    #[arg(long, hide = true)]
    stub: bool,
    /// Set by `cargo bench`. Without it (`cargo test --all-targets`) nothing is measured.
    #[arg(long, hide = true)]
    bench: bool,
}

/// The parameters of all goals.
#[derive(Debug)]
struct Bench {
    binary: PathBuf,
    /// The Python with localstripe, if there is one.
    peers: Option<PathBuf>,
    objects: usize,
    peer_objects: usize,
    /// In rising order.
    charges: Vec<usize>,
    rounds: usize,
    seed: u64,
    work: PathBuf,
    progress: Progress,
}

#[tokio::main]
async fn main() -> Result<ExitCode, Failed> {
    let Arguments {
        goals,
        objects,
        peer_objects,
        charges,
        rounds,
        seed,
        binary,
        json,
        stub,
        bench,
    } = Arguments::parse();
    if stub {
        return kept::serve().await.map(|()| ExitCode::SUCCESS);
    }
    if !bench {
        println!("nothing measured: run it with `cargo bench --bench sandbox`");
        return Ok(ExitCode::SUCCESS);
    }
    let mut charges = charges;
    charges.sort_unstable();
    let peers = std::env::var_os("RECKON_PEERS").map(PathBuf::from);
    let work = std::env::temp_dir().join(format!("reckon-bench-{}", std::process::id()));
    let progress = Progress::new();
    let bench =
        Bench { binary, peers, objects, peer_objects, charges, rounds, seed, work, progress };
    std::fs::create_dir_all(&bench.work)?;
    let mut report = Report::of("objects");
    let measured = everything(&bench, &goals, &mut report).await;
    println!("{}", if json { report.json() } else { report.table() });
    std::fs::remove_dir_all(&bench.work)?;
    if let Err(why) = measured {
        println!("not everything was measured: {why}");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures these goals; all, if none is named.
async fn everything(bench: &Bench, goals: &[Goal], report: &mut Report) -> Result<(), Failed> {
    let wanted = |goal: Goal| goals.is_empty() || goals.contains(&goal);
    if wanted(Goal::E1) || wanted(Goal::E2) {
        e1_e2::run(bench, report).await?;
    }
    if wanted(Goal::Y) {
        year::run(bench, report).await;
    }
    let all = Goal::value_variants().iter().filter(|goal| wanted(**goal));
    report.only(&all.map(|goal| format!("{goal:?}")).collect::<Vec<_>>());
    Ok(())
}
