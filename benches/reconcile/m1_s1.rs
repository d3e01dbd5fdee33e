//! M1 and S1: memory of the idle daemon, and the start times of a process and of a daemon.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::Bench;
use crate::connection::Failed;
use crate::daemon::{Daemon, free_address};
use crate::figures::{Figure, hundredths, ms};
use crate::report::{Report, Row};
use crate::settled::Settled;
use crate::stand::Stand;

const VERSION_MAX: Duration = Duration::from_millis(5);
const EMPTY_MAX: Duration = Duration::from_millis(25);
const CLEAN_MAX: Duration = Duration::from_millis(60);
const KILLED_MAX: Duration = Duration::from_millis(100);
const WHOLE_MAX: Duration = Duration::from_secs(2);
const EMPTY_KIB_MAX: u64 = 15 * 1024;
/// Half a KiB.
const EACH_BYTES_MAX: u64 = 512;
/// Starts of a process that does next to nothing.
const STARTS: usize = 20;
/// Starts of a daemon.
const DAEMONS: usize = 3;

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
    started(report, "S1 --version", 0, &times, VERSION_MAX, "at most 5 ms");
    Ok(())
}

fn started(
    report: &mut Report,
    goal: &str,
    documents: usize,
    rounds: &[Duration],
    most: Duration,
    wanted: &'static str,
) {
    let time = Figure::of_costs(rounds.iter().copied());
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

/// Starts a daemon without a state and without a document. Measures the time until it listens; returns its memory in
/// KiB.
pub(crate) async fn empty(bench: &Bench, report: &mut Report) -> Result<u64, Failed> {
    let folder = bench.folder("empty");
    let stand = Stand::start(&bench.binary, &folder, "public", 0).await?;
    let listen = free_address()?;
    stand.settle_config(stand.sandbox.address, &listen.to_string(), ["30s", "30s"])?;
    fs::create_dir_all(folder.join("specs"))?;
    let (mut times, mut memory) = (Vec::new(), Vec::new());
    for _ in 0..DAEMONS {
        let (mut daemon, time) = Daemon::launch(&stand, listen).await?;
        times.push(time);
        daemon.ready().await?;
        memory.push(daemon.memory_kib().await?);
        daemon.stop()?;
        fs::remove_dir_all(folder.join(".reckon"))?;
    }
    let what = "S1 daemon listening, empty store";
    started(report, what, 0, &times, EMPTY_MAX, "at most 25 ms");
    let memory = Figure::of_costs(memory);
    report.add(Row {
        goal: "M1 idle daemon, MiB".to_owned(),
        count: 0,
        figure: memory.shown(|kib| format!("{kib} KiB")),
        limit: String::new(),
        ratio: u128::from(memory.median).saturating_mul(100) / 1024,
        wanted: "at most 15 MiB",
        met: Some(memory.median <= EMPTY_KIB_MAX),
    });
    Ok(memory.median)
}

/// Starts a daemon over a settled tree. Measures the time until it listens, after a clean end and after a kill, and the
/// memory of each resource.
pub(crate) async fn run(
    bench: &Bench,
    settled: &Settled,
    report: &mut Report,
    idle_kib: u64,
) -> Result<(), Failed> {
    let documents = settled.documents();
    let (mut clean, mut killed, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    let (mut whole, mut whole_killed) = (Vec::new(), Vec::new());
    for _ in 0..DAEMONS {
        bench.progress.say(&format!("{documents} documents: daemon"));
        let (mut daemon, time) = Daemon::launch(&settled.stand, settled.listen).await?;
        clean.push(time);
        whole.push(daemon.ready().await?);
        memory.push(daemon.memory_kib().await?);
        drop(daemon);
        let (mut daemon, time) = Daemon::launch(&settled.stand, settled.listen).await?;
        killed.push(time);
        whole_killed.push(daemon.ready().await?);
        daemon.stop()?;
    }
    let what = "S1 daemon listening, closed cleanly";
    started(report, what, documents, &clean, CLEAN_MAX, "at most 60 ms");
    let what = "S1 daemon listening, after a kill";
    started(report, what, documents, &killed, KILLED_MAX, "at most 100 ms");
    let what = "S1 daemon whole, closed cleanly";
    started(report, what, documents, &whole, WHOLE_MAX, "at most 2 s");
    let what = "S1 daemon whole, after a kill";
    started(report, what, documents, &whole_killed, WHOLE_MAX, "at most 2 s");
    let memory = Figure::of_costs(memory);
    let more = memory.median.saturating_sub(idle_kib).saturating_mul(1024);
    let each = more.checked_div(u64::try_from(documents)?).unwrap_or(0);
    let kib = u128::from(each).saturating_mul(100) / 1024;
    report.add(Row {
        goal: "M1 each resource more, KiB".to_owned(),
        count: documents,
        figure: memory.shown(|kib| format!("{kib} KiB")),
        limit: format!("{idle_kib} KiB empty, {} KiB each", hundredths(kib)),
        ratio: kib,
        wanted: "at most 0.50 KiB",
        met: Some(each <= EACH_BYTES_MAX),
    });
    Ok(())
}
