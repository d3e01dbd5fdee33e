//! Tests exactly-once from outside: a sandbox, a proxy that loses answers, and a daemon killed at random moments, over
//! documents of every kind. The harness uses only the built program of `reckon`.
//!
//! `cargo build --release && cargo run --release --example kill_harness -- --documents 2000 --kills 30 --seed 1`, and
//! once more with `--surface documented`.
//!
//! The proxy loses 20 % of all answers after the effect and errors 10 % before it. The harness ends with 1 if an object
//! or payment was made twice without a report, or is missing without being on hold. It also ends with 1 if a daemon
//! ended by itself.

#![expect(clippy::print_stdout, reason = "a program for people")]
#![expect(clippy::disallowed_methods, reason = "the harness waits for real processes in real time")]

use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::connection::Failed;

#[path = "rig/connection.rs"]
mod connection;
#[path = "rig/control.rs"]
mod control;
#[path = "rig/judge.rs"]
mod judge;
#[path = "rig/kill.rs"]
mod kill;
#[path = "rig/proxy.rs"]
#[expect(dead_code, reason = "the harness uses only a part of the proxy")]
mod proxy;
#[path = "rig/random.rs"]
mod random;
#[path = "rig/settings.rs"]
mod settings;
#[path = "rig/stand.rs"]
mod stand;
#[path = "rig/tree.rs"]
mod tree;

/// Kills the daemon, or `reckon apply`, at random moments and counts the results.
#[derive(Debug, Parser)]
struct Arguments {
    /// The program.
    #[arg(long, default_value = "target/release/reckon")]
    binary: PathBuf,
    /// The folder for all files; created, and must be empty. Default: a new folder for temporary files.
    #[arg(long)]
    work: Option<PathBuf>,
    /// Number of documents.
    #[arg(long, default_value_t = 2_000)]
    documents: usize,
    /// Which documents.
    #[arg(long, value_enum, default_value = "every")]
    kinds: tree::Kinds,
    /// The process to kill.
    #[arg(long, value_enum, default_value = "daemon")]
    victim: kill::Victim,
    /// Number of kills.
    #[arg(long, default_value_t = 30)]
    kills: usize,
    /// The seed of the tree, the losses and the kills.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The sandbox's surface.
    #[arg(long, default_value = "public", value_parser = ["public", "documented"])]
    surface: String,
    /// The earliest moment of a kill, in milliseconds.
    #[arg(long, default_value_t = 50)]
    earliest: u64,
    /// The latest moment of a kill, in milliseconds.
    #[arg(long, default_value_t = 3_000)]
    latest: u64,
    /// `service.timeout`.
    #[arg(long, default_value = "2s")]
    timeout: String,
    /// `doubt.grace`.
    #[arg(long, default_value = "1s")]
    grace: String,
    #[command(flatten)]
    odds: proxy::Odds,
}

#[tokio::main]
async fn main() -> Result<ExitCode, Failed> {
    let arguments = Arguments::parse();
    let Arguments { documents, kinds, victim, kills, seed, surface, odds, .. } = arguments;
    let temporary =
        || std::env::temp_dir().join(format!("reckon-kill-{seed}-{}", std::process::id()));
    let folder = arguments.work.unwrap_or_else(temporary);
    let trial = kill::Trial {
        victim,
        kinds,
        binary: arguments.binary,
        folder: folder.clone(),
        documents,
        kills,
        seed,
        surface,
        odds,
        moments_ms: [arguments.earliest, arguments.latest],
        waits: [arguments.timeout, arguments.grace],
    };
    println!("all files are in {}", folder.display());
    let report = kill::run(&trial).await?;
    print!("{report}");
    println!("{}", if report.is_good() { "nothing doubled, nothing forgotten" } else { "BROKEN" });
    Ok(if report.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
