//! R1: a plan that changes nothing, as a cold command, against walk + stat of the same files.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::Bench;
use crate::connection::Failed;
use crate::figures::{hundredths, median, met, ms, ratio};
use crate::stand::Stand;
use crate::tree::{self, Kinds};
use crate::walk::walk_and_stat;

/// At most this many hundredths of the limit, and the start of a process on top.
const GOAL_HUNDREDTHS: u128 = 150;
const START: Duration = Duration::from_millis(15);

/// Settles the tree once, then takes turns: limit, plan.
pub(crate) async fn run(bench: &Bench) -> Result<(), Failed> {
    let tree = tree::documents(Kinds::Contacts, bench.documents, bench.seed)?;
    let stand = Stand::start(&bench.binary, &bench.folder("r1"), "public", 1).await?;
    stand.settle_config(stand.sandbox.address, "127.0.0.1:0", ["30s", "30s"])?;
    stand.write(&tree, |_, _| true)?;
    let started = Instant::now();
    stand.run(&["apply", "--yes"], &[0])?;
    println!("R1  {} specs settled in {} ms", tree.len(), ms(started.elapsed()));
    let specs = stand.folder.join("specs");
    let (mut limits, mut plans) = (Vec::new(), Vec::new());
    for round in 0..=bench.rounds {
        let started = Instant::now();
        let (files, _, _) = walk_and_stat(&specs)?;
        let limit = started.elapsed();
        if files != tree.len() {
            return Err(format!("{files} files, {} documents", tree.len()).into());
        }
        let plan = plan(&stand)?;
        // The first round warms the page cache.
        if round > 0 {
            limits.push(limit);
            plans.push(plan);
        }
    }
    let (limit, plan) = (median(&limits), median(&plans));
    let beyond_start = plan.saturating_sub(START);
    let ratio = ratio(beyond_start.as_micros(), limit.as_micros());
    println!(
        "R1  plan {} ms, walk + stat {} ms; less 15 ms: {} x; goal at most 1.50 x: {}",
        ms(plan),
        ms(limit),
        hundredths(ratio),
        met(ratio <= GOAL_HUNDREDTHS)
    );
    Ok(())
}

fn plan(stand: &Stand) -> Result<Duration, Failed> {
    let mut command = stand.command(&["plan", "--detailed-exitcode"])?;
    command.stdout(Stdio::null());
    let started = Instant::now();
    let status = command.status()?;
    let time = started.elapsed();
    match status.code() {
        Some(0) => Ok(time),
        code => Err(format!("a plan over a settled tree ended with {code:?}").into()),
    }
}
