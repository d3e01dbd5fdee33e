//! W5: hooks run over waiting events, with their completion on disk. All events exist before the scripts do.

use std::fs;
use std::time::{Duration, Instant};

use http::Method;
use serde_json::Value;

use crate::connection::Failed;
use crate::daemon::Daemon;
use crate::figures::{Figure, us_each};
use crate::report::{Report, Row};
use crate::till::Till;
use crate::tree::merchant_name;
use crate::{Bench, control, receivers};

/// About 33,000 hooks in a second of CPU.
const EACH_MAX: Duration = Duration::from_micros(30);
pub(crate) const LOOK: Duration = Duration::from_millis(50);
/// Number of reads without a new event after which no more is expected.
const QUIET_LOOKS: u32 = 40;
/// Longest time for reading the list of events, or for running all hooks.
pub(crate) const LONGEST: Duration = Duration::from_mins(10);
/// A set with a mistake, so that events wait.
const WRONG: &str = "fn on_event(event) { nothing }\n";
/// Reads the event, keeps a count, requests nothing.
const SCRIPT: &str = "\
fn on_event(event) {
    if event.data.amount > 100000 {
        log(`${event.id} is large`);
    }
    let seen = kv_get(\"seen\");
    kv_set(\"seen\", if seen == () { 1 } else { seen + 1 });
}
";

/// Progress of a merchant's events.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LedgerCounts {
    pub(crate) verified: u64,
    pub(crate) ran: u64,
}

/// Measures W5, each round with a state of its own.
pub(crate) async fn run(bench: &Bench, report: &mut Report) -> Result<(), Failed> {
    let mut samples = Vec::new();
    let mut count = 0;
    for round in 1..=bench.rounds {
        bench.progress.say(&format!("round {round}: hooks"));
        let folder = bench.work.join("hooks");
        let (cpu, hooks) = once(bench, &folder).await?;
        fs::remove_dir_all(&folder)?;
        count = hooks;
        samples.push(cpu.checked_div(u32::try_from(hooks.max(1))?).unwrap_or_default());
    }
    let each = Figure::of_costs(samples);
    report.add(Row {
        goal: "W5 CPU of each hook, its completion on disk".to_owned(),
        count,
        figure: each.shown(|cpu| us_each(cpu, 1)),
        limit: String::new(),
        ratio: each.median.as_nanos() / 10,
        wanted: "at most 30.00 us",
        met: Some(each.median <= EACH_MAX),
    });
    Ok(())
}

/// Returns the CPU of all hooks, and their number.
async fn once(bench: &Bench, folder: &std::path::Path) -> Result<(Duration, usize), Failed> {
    let (stand, address) = receivers::stand(bench, folder).await?;
    fs::create_dir_all(folder.join("scripts"))?;
    settle(folder, WRONG)?;
    let references: Vec<_> = (0..bench.events).map(|at| at.to_string()).collect();
    Till::of(&stand, &merchant_name(0)).await?.charge(&references).await?;
    let mut daemon = Daemon::start(&stand, address, 1).await?;
    // Every charge has one event at least.
    let wanted = u64::try_from(bench.events)?;
    until(address, all(wanted)).await?;
    let before = daemon.cpu()?;
    let earlier = counts(address).await?.ran;
    settle(folder, SCRIPT)?;
    let done = until(address, |counts| counts.ran >= counts.verified).await?;
    let cpu = daemon.cpu()?.saturating_sub(before);
    Ok((cpu, usize::try_from(done.ran.saturating_sub(earlier))?))
}

/// Replaces the script by a rename, so that the daemon never reads half of it.
pub(crate) fn settle(folder: &std::path::Path, script: &str) -> Result<(), Failed> {
    fs::write(folder.join("hook.new"), script)?;
    fs::rename(folder.join("hook.new"), folder.join("scripts/hook.rhai"))?;
    Ok(())
}

/// Returns a condition: this number of events is verified, and for a while no new one came. The bench does not measure
/// the reading of events.
pub(crate) fn all(wanted: u64) -> impl FnMut(LedgerCounts) -> bool {
    let (mut verified, mut looks) = (0, 0_u32);
    move |counts| {
        looks = if counts.verified == verified { looks.saturating_add(1) } else { 0 };
        verified = counts.verified;
        verified >= wanted && looks >= QUIET_LOOKS
    }
}

/// Waits until the progress of the merchant's events fulfils the condition.
pub(crate) async fn until(
    daemon: std::net::SocketAddr,
    mut far: impl FnMut(LedgerCounts) -> bool,
) -> Result<LedgerCounts, Failed> {
    let started = Instant::now();
    loop {
        let counts = counts(daemon).await?;
        if far(counts) {
            return Ok(counts);
        }
        if started.elapsed() > LONGEST {
            return Err(format!("the hooks are not done: {counts:?}").into());
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn counts(daemon: std::net::SocketAddr) -> Result<LedgerCounts, Failed> {
    let events = control::json(daemon, Method::GET, "/api/v1/events?limit=1", None).await?;
    let ledger = events.pointer("/receivers/0/ledger").ok_or("no receiver is shown")?;
    let number = |field| ledger.get(field).and_then(Value::as_u64).unwrap_or(0);
    Ok(LedgerCounts { verified: number("told"), ran: number("ran_to") })
}
