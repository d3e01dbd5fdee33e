//! R1 and R2: a plan that changes nothing, as a cold command. R1 compares it with walk + stat of the same files, R2
//! with verified contents, against walk + read + BLAKE3.

use std::time::{Duration, Instant};

use crate::Bench;
use crate::connection::Failed;
use crate::figures::{Figure, ms, times};
use crate::report::{Report, Row};
use crate::settled::Settled;
use crate::walk::{walk_and_hash, walk_and_stat};

/// The start of a process, which R1 allows on top.
const START: Duration = Duration::from_millis(15);
const R1_HUNDREDTHS: u128 = 120;
const R2_HUNDREDTHS: u128 = 115;

/// Measures R1.
pub(crate) fn plan(bench: &Bench, settled: &Settled, report: &mut Report) -> Result<(), Failed> {
    let specs = settled.stand.folder.join("specs");
    let limit = || Ok(walk_and_stat(&specs)?.0);
    let (limit, plan) = in_turns(bench, settled, limit, &[])?;
    let ratio = times(plan.median.saturating_sub(START), limit);
    report.add(Row {
        goal: "R1 no-op plan, less 15 ms".to_owned(),
        count: settled.documents,
        figure: plan.shown(ms),
        limit: ms(limit),
        ratio,
        wanted: "at most 1.20 x walk + stat",
        met: Some(ratio <= R1_HUNDREDTHS),
    });
    Ok(())
}

/// Measures R2.
pub(crate) fn verify(bench: &Bench, settled: &Settled, report: &mut Report) -> Result<(), Failed> {
    let specs = settled.stand.folder.join("specs");
    let limit = || Ok(walk_and_hash(&specs)?.0);
    let (limit, plan) = in_turns(bench, settled, limit, &["--verify"])?;
    let ratio = times(plan.median, limit);
    report.add(Row {
        goal: "R2 plan --verify".to_owned(),
        count: settled.documents,
        figure: plan.shown(ms),
        limit: ms(limit),
        ratio,
        wanted: "at most 1.15 x walk + read + BLAKE3",
        met: Some(ratio <= R2_HUNDREDTHS),
    });
    Ok(())
}

/// Measures limit and plan, which take turns; returns the limit's median. The first round warms the page cache and does not count.
fn in_turns(
    bench: &Bench,
    settled: &Settled,
    limit: impl Fn() -> Result<usize, Failed>,
    more: &[&str],
) -> Result<(Duration, Figure<Duration>), Failed> {
    let (mut limits, mut plans) = (Vec::new(), Vec::new());
    for round in 0..=bench.rounds_of(settled.documents) {
        let started = Instant::now();
        let files = limit()?;
        let time = started.elapsed();
        if files != settled.documents {
            return Err(format!("{files} files, {} documents", settled.documents).into());
        }
        let plan = settled.plan(more)?;
        if round > 0 {
            limits.push(time);
            plans.push(plan);
        }
    }
    Ok((Figure::of_costs(limits).median, Figure::of_costs(plans)))
}
