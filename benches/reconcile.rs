//! What reconciling costs, against limit programs that are measured in the same run.
//!
//! `cargo bench --bench reconcile -- [R1] [R4] [R5] [--documents 100000] [--rounds 5]`; without a name, all. Figures are
//! medians; only the ratios mean anything on another machine. A goal that is missed is printed with its figure, and
//! what cannot be measured with the reason.

#![expect(clippy::print_stdout, reason = "a program for people")]
#![expect(clippy::disallowed_methods, reason = "it measures real time")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};

use crate::connection::Failed;

#[path = "limits/bare_loop.rs"]
mod bare_loop;
#[path = "../examples/rig/connection.rs"]
mod connection;
#[path = "../examples/rig/control.rs"]
mod control;
#[path = "reconcile/daemon.rs"]
mod daemon;
#[path = "reconcile/figures.rs"]
mod figures;
#[path = "../examples/rig/proxy.rs"]
#[expect(dead_code, reason = "not everything that a proxy can do is used here")]
mod proxy;
#[path = "reconcile/r1.rs"]
mod r1;
#[path = "reconcile/r4.rs"]
mod r4;
#[path = "reconcile/r5.rs"]
mod r5;
#[path = "../examples/rig/random.rs"]
mod random;
#[path = "../examples/rig/settings.rs"]
mod settings;
#[path = "../examples/rig/stand.rs"]
mod stand;
#[path = "../examples/rig/tree.rs"]
#[expect(dead_code, reason = "what a checker asks of a tree is not asked here")]
mod tree;
#[path = "limits/walk.rs"]
mod walk;

/// What can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "UPPER")]
enum Goal {
    /// A plan that changes nothing.
    R1,
    /// One edit in the running daemon.
    R4,
    /// A first apply to a service 20 ms away.
    R5,
}

/// Measures what reconciling costs.
#[derive(Debug, Parser)]
struct Arguments {
    /// Which goals; all, if none is named.
    #[arg(value_enum, ignore_case = true)]
    goals: Vec<Goal>,
    /// How many specs there are in R1 and R4.
    #[arg(long, default_value_t = 100_000)]
    documents: usize,
    /// Rounds of R1 and R5.
    #[arg(long, default_value_t = 5, value_parser = rounds)]
    rounds: usize,
    /// The seed of the trees.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Another program than the one that cargo built for this.
    #[arg(long, default_value = env!("CARGO_BIN_EXE_reckon"))]
    binary: PathBuf,
    /// `cargo bench` says this; without it (`cargo test --all-targets`) nothing is measured.
    #[arg(long, hide = true)]
    bench: bool,
}

fn rounds(text: &str) -> Result<usize, String> {
    let rounds = text.parse().ok().filter(|rounds| *rounds >= 3);
    rounds.ok_or_else(|| "a median needs at least 3 rounds".to_owned())
}

/// What all goals share.
#[derive(Debug)]
struct Bench {
    binary: PathBuf,
    documents: usize,
    rounds: usize,
    seed: u64,
    work: PathBuf,
}

impl Bench {
    fn folder(&self, name: &str) -> PathBuf {
        self.work.join(name)
    }
}

#[tokio::main]
async fn main() -> Result<ExitCode, Failed> {
    let Arguments { goals, documents, rounds, seed, binary, bench } = Arguments::parse();
    if !bench {
        println!("nothing measured: run it with `cargo bench --bench reconcile`");
        return Ok(ExitCode::SUCCESS);
    }
    // Nothing here speaks TLS, but the HTTP client does not start without a provider.
    rustls::crypto::ring::default_provider().install_default().map_err(|_| "two providers")?;
    let work = std::env::temp_dir().join(format!("reckon-bench-{}", std::process::id()));
    let goals = if goals.is_empty() { vec![Goal::R1, Goal::R4, Goal::R5] } else { goals };
    let bench = Bench { binary, documents, rounds, seed, work };
    let mut all = true;
    for goal in goals {
        let done = match goal {
            Goal::R1 => r1::run(&bench).await,
            Goal::R4 => r4::run(&bench).await,
            Goal::R5 => r5::run(&bench).await,
        };
        if let Err(why) = &done {
            println!("{goal:?}  not measured: {why}");
            all = false;
        }
    }
    if all {
        clean(&bench.work)?;
    } else {
        println!("everything is kept in {}", bench.work.display());
    }
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn clean(work: &Path) -> Result<(), Failed> {
    Ok(std::fs::remove_dir_all(work)?)
}
