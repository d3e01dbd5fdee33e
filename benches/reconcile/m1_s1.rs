//! M1 and S1: memory of the idle daemon, and the start times of a process and of a daemon.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::Bench;
use crate::connection::Failed;
use crate::daemon::{Daemon, free_address};
use crate::figures::{Figure, ms};
use crate::meter::{Memories, Memory, hundredths_of, kib, mib};
use crate::report::{Report, Row};
use crate::settled::Settled;
use crate::stand::Stand;

const VERSION: Most = (Duration::from_millis(5), "at most 5 ms");
const EMPTY: Most = (Duration::from_millis(25), "at most 25 ms");
const CLEAN: Most = (Duration::from_millis(60), "at most 60 ms");
const KILLED: Most = (Duration::from_millis(100), "at most 100 ms");
const WHOLE_CLEAN: Most = (Duration::from_millis(1500), "at most 1.5 s");
const WHOLE_KILLED: Most = (Duration::from_secs(2), "at most 2 s");
const IDLE_BYTES_MAX: u64 = 8 << 20;
const EACH_BYTES_MAX: u64 = 1 << 10;
/// Starts of a process that does next to nothing.
const STARTS: usize = 20;

/// The longest time that meets a goal, with its text.
type Most = (Duration, &'static str);

/// Measures the time of `--version`.
pub(crate) fn version(bench: &Bench, report: &mut Report) -> Result<(), Failed> {
    let mut times = Vec::new();
    for _ in 0..STARTS {
        let mut command = std::process::Command::new(&bench.binary);
        command.arg("--version").stdout(Stdio::null());
        let started = Instant::now();
        let status = command.status()?;
        times.push(started.elapsed());
        if !status.success() {
            return Err(format!("--version ended with {status}").into());
        }
    }
    started(report, "S1 --version", 0, times, VERSION);
    Ok(())
}

fn started(
    report: &mut Report,
    goal: &str,
    documents: usize,
    rounds: Vec<Duration>,
    (most, wanted): Most,
) {
    let time = Figure::of_costs(rounds);
    report.add(Row {
        goal: goal.to_owned(),
        count: documents,
        figure: time.shown(ms),
        limit: String::new(),
        ratio: time.median.as_micros() / 10,
        wanted,
        met: Some(time.median <= most),
    });
}

/// Starts a daemon without a state and without a document. Measures the time until it listens; returns its memory.
pub(crate) async fn empty(bench: &Bench, report: &mut Report) -> Result<Memory, Failed> {
    let folder = bench.folder("empty");
    let stand = Stand::start(&bench.binary, &folder, "public", 0).await?;
    let listen = free_address()?;
    stand.settle_config(stand.sandbox.address, &listen.to_string(), ["30s", "30s"])?;
    fs::create_dir_all(folder.join("specs"))?;
    let (mut times, mut memory) = (Vec::new(), Vec::new());
    for _ in 0..bench.rounds_of(0) {
        let (mut daemon, time) = Daemon::launch(&stand, listen, 0).await?;
        times.push(time);
        daemon.ready().await?;
        memory.push(daemon.memory().await?);
        daemon.stop()?;
        fs::remove_dir_all(folder.join(".reckon"))?;
    }
    started(report, "S1 daemon listening, empty store", 0, times, EMPTY);
    Ok(idle(report, Memories::of(&memory)))
}

/// Reports the memory of an empty daemon, and returns it.
fn idle(report: &mut Report, memory: Memories) -> Memory {
    let anonymous = memory.anonymous.median;
    report.add(Row {
        goal: "M1 idle daemon, MiB anonymous".to_owned(),
        count: 0,
        figure: memory.shown(mib),
        limit: String::new(),
        ratio: hundredths_of(anonymous, 1 << 20),
        wanted: "at most 8 MiB",
        met: Some(anonymous <= IDLE_BYTES_MAX),
    });
    memory.median()
}

/// Daemons over a settled tree, one round after the other.
#[derive(Debug, Default)]
struct Rounds {
    listening: Vec<Duration>,
    listening_killed: Vec<Duration>,
    whole: Vec<Duration>,
    whole_killed: Vec<Duration>,
    memory: Vec<Memory>,
}

impl Rounds {
    /// Starts a daemon after a clean end, and another after the first was killed.
    async fn round(&mut self, of: &Settled) -> Result<(), Failed> {
        let (mut daemon, time) = Daemon::launch(&of.stand, of.listen, of.documents).await?;
        self.listening.push(time);
        self.whole.push(daemon.ready().await?);
        self.memory.push(daemon.memory().await?);
        drop(daemon);
        let (mut daemon, time) = Daemon::launch(&of.stand, of.listen, of.documents).await?;
        self.listening_killed.push(time);
        self.whole_killed.push(daemon.ready().await?);
        daemon.stop()
    }
}

/// Starts daemons over a settled tree. Measures the times until they listen and until they know everything, after a
/// clean end and after a kill, and the memory of each resource.
pub(crate) async fn run(
    bench: &Bench,
    settled: &Settled,
    report: &mut Report,
    idle: Memory,
) -> Result<(), Failed> {
    let documents = settled.documents;
    let mut rounds = Rounds::default();
    for _ in 0..bench.rounds_of(documents) {
        bench.progress.say(&format!("{documents} documents: daemon"));
        rounds.round(settled).await?;
    }
    let Rounds { listening, listening_killed, whole, whole_killed, memory } = rounds;
    started(report, "S1 daemon listening, closed cleanly", documents, listening, CLEAN);
    started(report, "S1 daemon listening, after a kill", documents, listening_killed, KILLED);
    started(report, "S1 daemon whole, closed cleanly", documents, whole, WHOLE_CLEAN);
    started(report, "S1 daemon whole, after a kill", documents, whole_killed, WHOLE_KILLED);
    each(report, documents, &memory, idle);
    Ok(())
}

/// Reports the memory of each resource.
fn each(report: &mut Report, documents: usize, rounds: &[Memory], idle: Memory) {
    let more: Vec<_> = rounds.iter().map(|memory| memory.of_each(idle, documents)).collect();
    let each = Memories::of(&more);
    let whole = Memories::of(rounds).shown(mib).median;
    let empty = Memories::of(&[idle]).shown(mib).median;
    report.add(Row {
        goal: "M1 each resource more, KiB anonymous".to_owned(),
        count: documents,
        figure: each.shown(kib),
        limit: format!("whole {whole}; empty {empty}"),
        ratio: hundredths_of(each.anonymous.median, 1 << 10),
        wanted: "at most 1.00 KiB",
        met: Some(each.anonymous.median <= EACH_BYTES_MAX),
    });
}
