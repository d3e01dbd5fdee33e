//! The exactly-once promise, tried from outside: a sandbox, a proxy that loses answers, and a daemon killed at random
//! moments, over documents of every kind. It uses nothing of `reckon` but the built program.
//!
//! `cargo build --release && cargo run --release --example kill_harness -- --documents 2000 --kills 30 --seed 1`, and
//! once more with `--surface documented`.
//!
//! The proxy loses 20 % of all answers after the effect and errors 10 % before it. Ends with 1 if anything was made or
//! paid twice without being reported, is missing without being held, or if a daemon ended by itself.

#![expect(clippy::print_stdout, reason = "a program for people")]
#![expect(clippy::disallowed_methods, reason = "it waits for real processes in real time")]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

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
#[expect(dead_code, reason = "not everything that a proxy can do is used here")]
mod proxy;
#[path = "rig/random.rs"]
mod random;
#[path = "rig/settings.rs"]
mod settings;
#[path = "rig/stand.rs"]
mod stand;
#[path = "rig/tree.rs"]
mod tree;

/// Kills the daemon, or `reckon apply`, at random moments and counts what it left.
#[derive(Debug, Parser)]
struct Arguments {
    /// The program.
    #[arg(long, default_value = "target/release/reckon")]
    binary: PathBuf,
    /// Where everything is kept; made, and must be empty. Left out: a new folder for temporary files.
    #[arg(long)]
    work: Option<PathBuf>,
    /// How many documents.
    #[arg(long, default_value_t = 2_000)]
    documents: usize,
    /// Which documents.
    #[arg(long, value_enum, default_value = "every")]
    kinds: tree::Kinds,
    /// What is killed.
    #[arg(long, value_enum, default_value = "daemon")]
    victim: kill::Victim,
    /// How many kills.
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
    println!("everything is kept in {}", folder.display());
    let report = kill::run(&trial).await?;
    print!("{report}");
    println!("{}", if report.is_good() { "nothing doubled, nothing forgotten" } else { "BROKEN" });
    Ok(if report.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
