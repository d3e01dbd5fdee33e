//! Tests the inbox and hooks from outside: every event is processed once and its actions are done once. Meanwhile
//! events are doubled, lost and forged, and the daemon is killed. The harness uses only the built program of `reckon`.
//!
//! `cargo build --release && cargo run --release --example event_harness -- --events 100000 --kills 20 --seed 1`
//!
//! Each event is posted one to three times in random order, 5 % of them never. Among them come forgeries: ids that the
//! service does not have, ids of another merchant's events, and codes of another merchant. The harness ends with 1 if
//! an action was done twice, not at all, or for a forgery, or if a daemon ended by itself.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]
#![expect(clippy::disallowed_methods, reason = "the harness waits for real processes in real time")]

use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::connection::Failed;

#[path = "rig/connection.rs"]
mod connection;
#[path = "rig/control.rs"]
mod control;
#[path = "rig/flood.rs"]
mod flood;
#[path = "../benches/sandbox/load.rs"]
#[expect(dead_code, reason = "the harness needs no time of each answer")]
mod load;
#[path = "rig/posts.rs"]
mod posts;
#[path = "rig/random.rs"]
mod random;
#[path = "rig/settings.rs"]
mod settings;
#[path = "rig/stand.rs"]
mod stand;
#[path = "rig/till.rs"]
mod till;
#[path = "rig/tree.rs"]
#[expect(dead_code, reason = "the harness needs only merchants")]
mod tree;

/// Floods a daemon with events and kills it meanwhile.
#[derive(Debug, Parser)]
struct Arguments {
    /// The program.
    #[arg(long, default_value = "target/release/reckon")]
    binary: PathBuf,
    /// The folder for all files; created, and must be empty. Default: a new folder for temporary files.
    #[arg(long)]
    work: Option<PathBuf>,
    /// Least number of events.
    #[arg(long, default_value_t = 100_000)]
    events: usize,
    /// Number of forged posts.
    #[arg(long, default_value_t = 1_000)]
    forged: usize,
    /// Number of kills.
    #[arg(long, default_value_t = 20)]
    kills: usize,
    /// The seed of the order, the losses and the kills.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[tokio::main]
async fn main() -> Result<ExitCode, Failed> {
    let Arguments { binary, work, events, forged, kills, seed } = Arguments::parse();
    let temporary =
        || std::env::temp_dir().join(format!("reckon-events-{seed}-{}", std::process::id()));
    let folder = work.unwrap_or_else(temporary);
    println!("all files are in {}", folder.display());
    let report = flood::run(&flood::Trial { binary, folder, events, forged, kills, seed }).await?;
    print!("{report}");
    println!("{}", if report.is_good() { "each event once, each action once" } else { "BROKEN" });
    Ok(if report.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
