//! Costs of receiving events, against a bare handler with the same group commit and two peers, all in the same run.
//!
//! `cargo bench --bench inbox -- [W1] [W2] [W3] [W4] [W5] [W6] [--events 20000] [--connections 1,16,64] [--rounds 3]
//! [--json]`; without a name, all. Figures are the median and the worst of rounds in which all servers take turns. Only
//! the ratios are meaningful on another machine.
//!
//! `RECKON_PEERS` names a Python in which `fastapi` and `uvicorn` are installed; Debian's `webhook` is found by its
//! name.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]
#![expect(clippy::disallowed_methods, reason = "the bench measures real time")]

use clap::{Parser, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::connection::Failed;
use crate::report::{Progress, Report};

#[path = "inbox/acks.rs"]
mod acks;
#[path = "../examples/rig/connection.rs"]
mod connection;
#[path = "../examples/rig/control.rs"]
mod control;
#[path = "reconcile/daemon.rs"]
#[expect(dead_code, reason = "its memory and its end are not measured here")]
mod daemon;
#[path = "../examples/rig/daemon_address.rs"]
#[expect(dead_code, reason = "the daemon's own bench chooses where it listens")]
mod daemon_address;
#[path = "inbox/delayed.rs"]
mod delayed;
#[path = "reconcile/figures.rs"]
#[expect(dead_code, reason = "the number of rounds does not depend on a size here")]
mod figures;
#[path = "limits/hook_group.rs"]
mod hook_group;
#[path = "inbox/hooks.rs"]
mod hooks;
#[path = "sandbox/load.rs"]
mod load;
#[path = "reconcile/meter.rs"]
#[expect(dead_code, reason = "only running processes are measured here")]
mod meter;
#[path = "../examples/rig/random.rs"]
mod random;
#[path = "inbox/receivers.rs"]
mod receivers;
#[path = "reconcile/report.rs"]
mod report;
#[path = "../examples/rig/settings.rs"]
mod settings;
#[path = "../examples/rig/stand.rs"]
mod stand;
#[path = "../examples/rig/till.rs"]
#[expect(dead_code, reason = "no card is saved here")]
mod till;
#[path = "../examples/rig/tree.rs"]
#[expect(dead_code, reason = "a merchant alone is needed here")]
mod tree;

/// The measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "UPPER")]
enum Goal {
    /// Acknowledgements against the bare handler.
    W1,
    /// Acknowledgements against peers.
    W2,
    /// Time of each acknowledgement.
    W3,
    /// CPU of each acknowledgement.
    W4,
    /// Hooks run.
    W5,
    /// Notifications while delayed actions wait.
    W6,
}

/// Measures the costs of receiving events.
#[derive(Debug, Parser)]
struct Arguments {
    /// Which goals; all, if none is named.
    #[arg(value_enum, ignore_case = true)]
    goals: Vec<Goal>,
    /// Number of events that are posted at 16 and 64 connections, and whose hooks run. Fewer are posted at one
    /// connection, and to peers. In W6, half of this number are delayed actions that wait.
    #[arg(long, default_value_t = 20_000)]
    events: usize,
    /// Numbers of connections that post at once.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16, 64])]
    connections: Vec<usize>,
    /// Rounds of each figure.
    #[arg(long, default_value_t = 3, value_parser = figures::rounds)]
    rounds: usize,
    /// The seed of the merchant.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Another program than the one that cargo built for this.
    #[arg(long, default_value = env!("CARGO_BIN_EXE_reckon"))]
    binary: PathBuf,
    /// Print one JSON object for each figure in place of the table.
    #[arg(long)]
    json: bool,
    /// Run as the limit program, which appends to this file.
    #[arg(long, hide = true)]
    limit: Option<PathBuf>,
    /// Set by `cargo bench`. Without it (`cargo test --all-targets`) nothing is measured.
    #[arg(long, hide = true)]
    bench: bool,
}

/// The parameters of all goals.
#[derive(Debug)]
struct Bench {
    binary: PathBuf,
    /// The Python with the peers, if there is one.
    peers: Option<PathBuf>,
    events: usize,
    connections: Vec<usize>,
    rounds: usize,
    seed: u64,
    work: PathBuf,
    progress: Progress,
}

#[tokio::main]
async fn main() -> Result<ExitCode, Failed> {
    let Arguments { goals, events, connections, rounds, seed, binary, json, limit, bench } =
        Arguments::parse();
    if let Some(file) = limit {
        return hook_group::serve(&file).await.map(|()| ExitCode::SUCCESS);
    }
    if !bench {
        println!("nothing measured: run it with `cargo bench --bench inbox`");
        return Ok(ExitCode::SUCCESS);
    }
    let peers = std::env::var_os("RECKON_PEERS").map(PathBuf::from);
    let work = std::env::temp_dir().join(format!("reckon-bench-{}", std::process::id()));
    let progress = Progress::new();
    let bench = Bench { binary, peers, events, connections, rounds, seed, work, progress };
    std::fs::create_dir_all(&bench.work)?;
    let mut report = Report::of("events");
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
    if [Goal::W1, Goal::W2, Goal::W3, Goal::W4].into_iter().any(wanted) {
        acks::run(bench, report).await?;
    }
    if wanted(Goal::W5) {
        hooks::run(bench, report).await?;
    }
    if wanted(Goal::W6) {
        delayed::run(bench, report).await?;
    }
    let all = Goal::value_variants().iter().filter(|goal| wanted(**goal));
    report.only(&all.map(|goal| format!("{goal:?}")).collect::<Vec<_>>());
    Ok(())
}
