//! Costs of reconciling, against limit programs that are measured in the same run.
//!
//! `cargo bench --bench reconcile -- [R1 … R8] [J1] [M1] [S1] [--documents 1000,10000,100000] [--rounds 5] [--json]`;
//! without a name, all. Figures are the median and the worst round; only the ratios are meaningful on another
//! machine. A missed goal is printed with its figure, and an impossible measurement with the reason. One table at the
//! end; progress on a terminal alone.
//!
//! `RECKON_PEERS` names a Python in which `httpx`, `requests` and `PyYAML` are installed.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]
#![expect(clippy::disallowed_methods, reason = "the bench measures real time")]

use clap::{Parser, ValueEnum};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::connection::Failed;
use crate::report::{Progress, Report};
use crate::settled::Settled;

#[path = "limits/bare_loop.rs"]
mod bare_loop;
#[path = "limits/bare_reads.rs"]
mod bare_reads;
#[path = "../examples/rig/connection.rs"]
mod connection;
#[path = "../examples/rig/control.rs"]
mod control;
#[path = "reconcile/daemon.rs"]
#[expect(dead_code, reason = "only this bench counts its processes")]
mod daemon;
#[path = "reconcile/figures.rs"]
mod figures;
#[path = "reconcile/first_apply.rs"]
mod first_apply;
#[path = "limits/group.rs"]
mod group;
#[path = "reconcile/j1.rs"]
mod j1;
#[path = "reconcile/m1_s1.rs"]
mod m1_s1;
#[path = "reconcile/makers.rs"]
mod makers;
#[path = "reconcile/meter.rs"]
mod meter;
#[path = "../examples/rig/proxy.rs"]
#[expect(dead_code, reason = "the bench uses only a part of the proxy")]
mod proxy;
#[path = "reconcile/r1_r2.rs"]
mod r1_r2;
#[path = "reconcile/r3.rs"]
mod r3;
#[path = "reconcile/r4.rs"]
mod r4;
#[path = "reconcile/r5.rs"]
mod r5;
#[path = "reconcile/r6.rs"]
mod r6;
#[path = "reconcile/r7.rs"]
mod r7;
#[path = "reconcile/r8.rs"]
mod r8;
#[path = "../examples/rig/random.rs"]
mod random;
#[path = "reconcile/report.rs"]
mod report;
#[path = "../examples/rig/settings.rs"]
mod settings;
#[path = "reconcile/settled.rs"]
mod settled;
#[path = "reconcile/sides.rs"]
mod sides;
#[path = "../examples/rig/stand.rs"]
mod stand;
#[path = "../examples/rig/tree.rs"]
#[expect(dead_code, reason = "the bench needs no checks of a tree")]
mod tree;
#[path = "limits/typed.rs"]
mod typed;
#[path = "limits/walk.rs"]
mod walk;

/// The measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "UPPER")]
enum Goal {
    /// A plan that changes nothing.
    R1,
    /// The same with verified contents.
    R2,
    /// A first load.
    R3,
    /// One edit in the running daemon.
    R4,
    /// A first apply to a service 20 ms away.
    R5,
    /// A first apply without latency.
    R6,
    /// CPU per resource, few against many.
    R7,
    /// A plan that first reads the service.
    R8,
    /// The journal's group commit.
    J1,
    /// Memory of the idle daemon.
    M1,
    /// Start of the process and of the daemon.
    S1,
}

/// Measures the costs of reconciling.
#[derive(Debug, Parser)]
struct Arguments {
    /// Which goals; all, if none is named.
    #[arg(value_enum, ignore_case = true)]
    goals: Vec<Goal>,
    /// Numbers of documents, one run for each.
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 10_000, 100_000])]
    documents: Vec<usize>,
    /// Most rounds of each figure: five up to 10,000 documents, three up to 100,000, else one.
    #[arg(long, default_value_t = 5, value_parser = figures::rounds)]
    rounds: usize,
    /// The seed of the trees.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Another program than the one that cargo built for this.
    #[arg(long, default_value = env!("CARGO_BIN_EXE_reckon"))]
    binary: PathBuf,
    /// Print one JSON object for each figure in place of the table.
    #[arg(long)]
    json: bool,
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
    rounds: usize,
    seed: u64,
    work: PathBuf,
    progress: Progress,
}

impl Bench {
    fn folder(&self, name: &str) -> PathBuf {
        self.work.join(name)
    }

    /// Returns the rounds of each figure at this size.
    fn rounds_of(&self, documents: usize) -> usize {
        figures::rounds_of(documents, self.rounds)
    }
}

#[tokio::main]
async fn main() -> Result<ExitCode, Failed> {
    let Arguments { mut goals, mut documents, rounds, seed, binary, json, bench } =
        Arguments::parse();
    if !bench {
        println!("nothing measured: run it with `cargo bench --bench reconcile`");
        return Ok(ExitCode::SUCCESS);
    }
    // No connection of this bench uses TLS, but the HTTP client does not start without a provider.
    rustls::crypto::ring::default_provider().install_default().map_err(|_| "two providers")?;
    let work = std::env::temp_dir().join(format!("reckon-bench-{}", std::process::id()));
    if goals.is_empty() {
        goals = Goal::value_variants().to_vec();
    }
    documents.sort_unstable();
    std::fs::create_dir_all(&work)?;
    let peers = std::env::var_os("RECKON_PEERS").map(PathBuf::from);
    let bench = Bench { binary, peers, rounds, seed, work, progress: Progress::new() };
    let mut report = Report::of("documents");
    let measured = everything(&bench, &goals, &documents, &mut report).await;
    report.only(&goals.iter().map(|goal| format!("{goal:?}")).collect::<Vec<_>>());
    println!("{}", if json { report.json() } else { report.table() });
    match measured {
        Ok(()) => std::fs::remove_dir_all(&bench.work)?,
        Err(why) => {
            println!(
                "not everything was measured: {why}; the files are kept in {}",
                shown(&bench.work)
            );
            return Ok(ExitCode::FAILURE);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

impl Goal {
    /// Returns the reason why the goal is not measured at this size, if it is not.
    fn too_large(self, documents: usize) -> Option<&'static str> {
        let (most, why) = match self {
            Self::R1 | Self::R3 | Self::J1 | Self::M1 | Self::S1 => return None,
            Self::R2 | Self::R4 | Self::R5 | Self::R6 | Self::R7 => {
                (100_000, "measured up to 100,000 documents")
            }
            Self::R8 => (10_000, "measured up to 10,000 documents"),
        };
        Some(why).filter(|_| documents > most)
    }

    /// Returns true for a goal that is measured over a settled tree.
    fn is_of_settled(self) -> bool {
        ![Self::R5, Self::R6, Self::J1].contains(&self)
    }
}

/// Figures that those of every size are compared with.
#[derive(Debug)]
struct Others {
    /// Memory of an empty daemon.
    idle: Option<meter::Memory>,
    /// Edits of a small tree.
    few: Option<r4::Edits>,
    /// CPU at the sizes so far.
    costs: Vec<r7::Cpu>,
}

/// Measures every goal at every size. One settled state of each size serves all goals but R5 and R6.
async fn everything(
    bench: &Bench,
    goals: &[Goal],
    sizes: &[usize],
    report: &mut Report,
) -> Result<(), Failed> {
    let mut others = without_a_size(bench, goals, report).await?;
    for documents in sizes.iter().copied() {
        let goals = measured_at(documents, goals, report);
        if goals.iter().copied().any(Goal::is_of_settled) {
            settled(bench, &goals, documents, report, &mut others).await?;
        }
        if goals.contains(&Goal::R5) {
            r5::run(bench, documents, report).await?;
        }
        if goals.contains(&Goal::R6) {
            r6::run(bench, documents, report).await?;
        }
    }
    r7::run(&others.costs, report);
    Ok(())
}

/// Measures the goals that have no size, and the figures that those of every size are compared with.
async fn without_a_size(
    bench: &Bench,
    goals: &[Goal],
    report: &mut Report,
) -> Result<Others, Failed> {
    let wanted = |goal| goals.contains(&goal);
    if wanted(Goal::S1) {
        m1_s1::version(bench, report)?;
    }
    if wanted(Goal::J1) {
        j1::run(bench, report).await?;
    }
    let daemons = wanted(Goal::M1) || wanted(Goal::S1);
    Ok(Others {
        idle: if daemons { Some(m1_s1::empty(bench, report).await?) } else { None },
        few: if wanted(Goal::R4) { Some(r4::few(bench).await?) } else { None },
        costs: Vec::new(),
    })
}

/// Returns the goals that are measured at this size, and reports the others.
fn measured_at(documents: usize, goals: &[Goal], report: &mut Report) -> Vec<Goal> {
    let mut measured = Vec::new();
    for goal in goals.iter().copied() {
        match goal.too_large(documents) {
            Some(why) => report.skip(&format!("{goal:?} at {documents} documents"), why),
            None => measured.push(goal),
        }
    }
    measured
}

/// Measures the goals that share a settled tree.
async fn settled(
    bench: &Bench,
    goals: &[Goal],
    documents: usize,
    report: &mut Report,
    others: &mut Others,
) -> Result<(), Failed> {
    let settled = Settled::make(bench, documents, 0).await?;
    if goals.contains(&Goal::R1) {
        r1_r2::plan(bench, &settled, report)?;
    }
    if goals.contains(&Goal::R2) {
        r1_r2::verify(bench, &settled, report)?;
    }
    if goals.contains(&Goal::R3) {
        r3::run(bench, &settled, report)?;
    }
    if goals.contains(&Goal::R7) {
        others.costs.push(r7::cost(bench, &settled).await?);
    }
    if goals.contains(&Goal::R8) {
        r8::run(bench, &settled, report).await?;
    }
    if let Some(idle) = others.idle {
        m1_s1::run(bench, &settled, report, idle).await?;
    }
    if let Some(few) = others.few.filter(|_| goals.contains(&Goal::R4)) {
        r4::run(bench, &settled, report, few).await?;
    }
    settled.clear()
}
