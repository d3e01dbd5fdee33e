//! W5: hooks run over events that wait, with their completion on disk. The events are all there before the scripts are.

use std::fs;
use std::time::{Duration, Instant};

use http::Method;
use serde_json::Value;

use crate::Bench;
use crate::connection::Failed;
use crate::control;
use crate::daemon::Daemon;
use crate::figures::{median, us_each};
use crate::receivers;
use crate::report::{Report, Row};
use crate::till::Till;
use crate::tree::merchant_name;

/// 20,000 hooks in a second of CPU.
const EACH_MAX: Duration = Duration::from_micros(50);
pub(crate) const LOOK: Duration = Duration::from_millis(50);
/// After so many looks without a new event there is none to come.
const QUIET_LOOKS: u32 = 40;
/// How long reading the list of events, or running all hooks, may take.
pub(crate) const LONGEST: Duration = Duration::from_mins(10);
/// A set with a mistake: events wait.
const WRONG: &str = "fn on_event(event) { nothing }\n";
/// Looks at the event, keeps a count, asks for nothing.
const SCRIPT: &str = "\
fn on_event(event) {
    if event.data.amount > 100000 {
        log(`${event.id} is large`);
    }
    let seen = kv_get(\"seen\");
    kv_set(\"seen\", if seen == () { 1 } else { seen + 1 });
}
";

/// How far a merchant's events are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stands {
    pub(crate) told: u64,
    pub(crate) ran: u64,
}

/// Measures it, each round with a state of its own.
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
    let each = median(&samples);
    report.add(Row {
        goal: "W5 CPU of each hook, its completion on disk".to_owned(),
        count,
        figure: us_each(each, 1),
        limit: String::new(),
        ratio: each.as_nanos() / 10,
        wanted: "at most 50.00 us: 20,000 in a second of CPU",
        met: each <= EACH_MAX,
    });
    Ok(())
}

/// The CPU of all hooks, and how many there were.
async fn once(bench: &Bench, folder: &std::path::Path) -> Result<(Duration, usize), Failed> {
    let (stand, address) = receivers::stand(bench, folder).await?;
    fs::create_dir_all(folder.join("scripts"))?;
    settle(folder, WRONG)?;
    let references: Vec<_> = (0..bench.events).map(|at| at.to_string()).collect();
    Till::of(&stand, &merchant_name(0)).await?.charge(&references).await?;
    let mut daemon = Daemon::start(&stand, address).await?;
    // Every charge is told by one event at least.
    let wanted = u64::try_from(bench.events)?;
    until(address, all(wanted)).await?;
    let before = daemon.cpu()?;
    let earlier = stands(address).await?.ran;
    settle(folder, SCRIPT)?;
    let done = until(address, |stands| stands.ran >= stands.told).await?;
    let cpu = daemon.cpu()?.saturating_sub(before);
    Ok((cpu, usize::try_from(done.ran.saturating_sub(earlier))?))
}

/// Puts a text in the place of the script; nobody reads half of it.
pub(crate) fn settle(folder: &std::path::Path, script: &str) -> Result<(), Failed> {
    fs::write(folder.join("hook.new"), script)?;
    fs::rename(folder.join("hook.new"), folder.join("scripts/hook.rhai"))?;
    Ok(())
}

/// So many events are there, and for a while none has come: reading them is not what is measured.
pub(crate) fn all(wanted: u64) -> impl FnMut(Stands) -> bool {
    let (mut told, mut looks) = (0, 0_u32);
    move |stands| {
        looks = if stands.told == told { looks.saturating_add(1) } else { 0 };
        told = stands.told;
        told >= wanted && looks >= QUIET_LOOKS
    }
}

/// Waits until the merchant's events are so far.
pub(crate) async fn until(
    daemon: std::net::SocketAddr,
    mut far: impl FnMut(Stands) -> bool,
) -> Result<Stands, Failed> {
    let started = Instant::now();
    loop {
        let stands = stands(daemon).await?;
        if far(stands) {
            return Ok(stands);
        }
        if started.elapsed() > LONGEST {
            return Err(format!("the hooks are not done: {stands:?}").into());
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn stands(daemon: std::net::SocketAddr) -> Result<Stands, Failed> {
    let events = control::json(daemon, Method::GET, "/api/v1/events?limit=1", None).await?;
    let ledger = events.pointer("/receivers/0/ledger").ok_or("no receiver is shown")?;
    let number = |field| ledger.get(field).and_then(Value::as_u64).unwrap_or(0);
    Ok(Stands { told: number("told"), ran: number("ran_to") })
}
