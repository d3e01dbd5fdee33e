//! R4: one changed file in the running daemon; the cost must not depend on the number of files.
//!
//! The edits change only fields that the service can change in place: a saved method's description, a recurring
//! charge's amount. A proxy between daemon and sandbox counts the calls and harms none.

use std::fs;
use std::time::{Duration, Instant};

use crate::connection::Failed;
use crate::daemon::Daemon;
use crate::figures::{Figure, Shown, ms, times};
use crate::proxy::{Odds, Proxy};
use crate::report::{Report, Row};
use crate::settled::Settled;
use crate::stand::Stand;
use crate::tree::Document;
use crate::{Bench, tree};

const FEW: usize = 100;
const EDITS: usize = 20;
const GOAL_HUNDREDTHS: u128 = 115;
/// Longest time until an edit reaches the service.
const EDIT_MAX: Duration = Duration::from_mins(1);
/// Time for which the daemon is measured after an edit has reached the service, so that its later writes count.
const AFTER: Duration = Duration::from_millis(400);
/// Time without a call before the first edit.
const QUIET: Duration = Duration::from_secs(2);
/// Most CPU of a quiet daemon in that time.
const QUIET_CPU_MAX: Duration = Duration::from_millis(100);
const GLANCE: Duration = Duration::from_millis(2);

/// The cost of one edit.
#[derive(Debug, Clone, Copy)]
struct Cost {
    cpu: Duration,
    wall: Duration,
    calls: u64,
}

/// The costs of all edits of one tree; each edit is a round.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edits {
    cpu: Figure<Duration>,
    wall: Figure<Duration>,
    calls: Figure<u64>,
}

impl Edits {
    fn of(costs: &[Cost]) -> Self {
        Self {
            cpu: Figure::of_costs(costs.iter().map(|cost| cost.cpu)),
            wall: Figure::of_costs(costs.iter().map(|cost| cost.wall)),
            calls: Figure::of_costs(costs.iter().map(|cost| cost.calls)),
        }
    }

    fn shown(self) -> Shown {
        let cpu = self.cpu.shown(|cpu| format!("{} CPU", ms(cpu)));
        let calls = self.calls.shown(|calls| format!("{calls} calls"));
        cpu.beside(calls).beside(self.wall.shown(ms))
    }
}

/// Measures an edit with few documents, for comparison.
pub(crate) async fn few(bench: &Bench) -> Result<Edits, Failed> {
    let settled = Settled::make(bench, FEW, 0).await?;
    let cost = measure(bench, &settled).await?;
    settled.clear()?;
    Ok(cost)
}

/// Measures an edit with many documents.
pub(crate) async fn run(
    bench: &Bench,
    settled: &Settled,
    report: &mut Report,
    few: Edits,
) -> Result<(), Failed> {
    let many = measure(bench, settled).await?;
    let ratio = times(many.cpu.median, few.cpu.median);
    report.add(Row {
        goal: "R4 one edit in the daemon, CPU".to_owned(),
        count: settled.documents,
        figure: many.shown(),
        limit: few.shown().median,
        ratio,
        wanted: "at most 1.15 x that of 100 documents, the same calls",
        met: Some(ratio <= GOAL_HUNDREDTHS && many.calls.median <= few.calls.median),
    });
    Ok(())
}

async fn measure(bench: &Bench, settled: &Settled) -> Result<Edits, Failed> {
    let Settled { stand, documents, editable, listen, first_apply: _ } = settled;
    bench.progress.say(&format!("{documents} documents: edits"));
    let odds = Odds { lose_per_mille: 0, error_per_mille: 0, delay_ms_max: 0, spare_reads: true };
    let proxy = Proxy::start(stand.sandbox.address, odds, 0).await?;
    settled.behind(Some(proxy.address))?;
    let mut daemon = Daemon::start(stand, *listen, *documents).await?;
    quiet(&proxy, &mut daemon).await?;
    let mut costs = Vec::new();
    for (number, (place, document)) in editable.iter().cycle().take(EDITS).enumerate() {
        let text = edited(document, number.saturating_add(1)).unwrap_or_default();
        costs.push(edit(stand, &proxy, &mut daemon, *place, &text).await?);
    }
    daemon.stop()?;
    settled.behind(None)?;
    Ok(Edits::of(&costs))
}

/// Waits until the daemon makes no calls and does next to nothing: after a large first apply it compacts its state.
async fn quiet(proxy: &Proxy, daemon: &mut Daemon) -> Result<(), Failed> {
    loop {
        let (calls, cpu) = (proxy.counts().forwarded(), daemon.cpu()?);
        tokio::time::sleep(QUIET).await;
        let idle = daemon.cpu()?.saturating_sub(cpu) <= QUIET_CPU_MAX;
        if idle && proxy.counts().forwarded() == calls {
            return Ok(());
        }
    }
}

/// Returns the first documents of a tree that can be edited, with their places.
pub(crate) fn editable(tree: Vec<Document>) -> Vec<(usize, Document)> {
    let places = tree.into_iter().enumerate();
    places.filter(|(_, document)| edited(document, 0).is_some()).take(EDITS).collect()
}

/// Returns the document with another value in a field that can be changed in place; each number gives another value.
fn edited(document: &Document, number: usize) -> Option<String> {
    let change = |line: &str| match document.kind {
        "SavedMethod" if line.starts_with("  description: ") => {
            Some(format!("  description: Edit {number}"))
        }
        "RecurringCharge" if line.starts_with("  amount: ") => {
            Some(format!("  amount: \"{number}.01 USD\""))
        }
        _ => None,
    };
    let mut found = false;
    let mut lines = Vec::new();
    for line in document.text.lines() {
        let changed = change(line);
        found |= changed.is_some();
        lines.push(changed.unwrap_or_else(|| line.to_owned()));
    }
    found.then(|| lines.join("\n") + "\n")
}

async fn edit(
    stand: &Stand,
    proxy: &Proxy,
    daemon: &mut Daemon,
    place: usize,
    text: &str,
) -> Result<Cost, Failed> {
    let (cpu, calls) = (daemon.cpu()?, proxy.counts().forwarded());
    let changed = proxy.counts().changed();
    let beside = stand.folder.join("edit.tmp");
    fs::write(&beside, text)?;
    let started = Instant::now();
    fs::rename(&beside, tree::file_of(&stand.folder, place))?;
    while proxy.counts().changed() == changed {
        if started.elapsed() > EDIT_MAX {
            return Err(format!("the edit of {place:06}.yaml never reached the service").into());
        }
        tokio::time::sleep(GLANCE).await;
    }
    let wall = started.elapsed();
    tokio::time::sleep(AFTER).await;
    let cpu = daemon.cpu()?.saturating_sub(cpu);
    Ok(Cost { cpu, wall, calls: proxy.counts().forwarded().saturating_sub(calls) })
}
