//! R1 and R2: a plan that changes nothing, as a cold command, against walk + stat of the same files; and with contents
//! verified, against walk + read + BLAKE3.

use std::time::{Duration, Instant};

use crate::Bench;
use crate::connection::Failed;
use crate::figures::{median, ms, times};
use crate::report::{Report, Row};
use crate::settled::Settled;
use crate::walk::{walk_and_hash, walk_and_stat};

/// R1 may have the start of a process on top.
const START: Duration = Duration::from_millis(15);
const R1_HUNDREDTHS: u128 = 150;
const R2_HUNDREDTHS: u128 = 125;

/// Takes turns: limit, plan, limit, plan. The first round warms the page cache and does not count.
pub(crate) fn run(
    bench: &Bench,
    settled: &Settled,
    report: &mut Report,
    [r1, r2]: [bool; 2],
) -> Result<(), Failed> {
    let specs = settled.stand.folder.join("specs");
    let documents = settled.documents();
    let (mut stats, mut plans, mut hashes, mut verified) = (vec![], vec![], vec![], vec![]);
    for round in 0..=bench.rounds {
        let (stat, files) = timed(|| Ok(walk_and_stat(&specs)?.0))?;
        let plan = settled.plan(&[])?;
        let (hash, read) = timed(|| Ok(walk_and_hash(&specs)?.0))?;
        let verify = settled.plan(&["--verify"])?;
        if (files, read) != (documents, documents) {
            return Err(format!("{files} and {read} files, {documents} documents").into());
        }
        if round > 0 {
            stats.push(stat);
            plans.push(plan);
            hashes.push(hash);
            verified.push(verify);
        }
    }
    let (stat, plan) = (median(&stats), median(&plans));
    let (hash, verify) = (median(&hashes), median(&verified));
    if r1 {
        let ratio = times(plan.saturating_sub(START), stat);
        report.add(Row {
            goal: "R1 no-op plan, less 15 ms".to_owned(),
            documents,
            figure: ms(plan),
            limit: ms(stat),
            ratio,
            wanted: "at most 1.50 x walk + stat",
            met: ratio <= R1_HUNDREDTHS,
        });
    }
    if r2 {
        let ratio = times(verify, hash);
        report.add(Row {
            goal: "R2 plan --verify".to_owned(),
            documents,
            figure: ms(verify),
            limit: ms(hash),
            ratio,
            wanted: "at most 1.25 x walk + read + BLAKE3",
            met: ratio <= R2_HUNDREDTHS,
        });
    }
    Ok(())
}

fn timed<T>(work: impl FnOnce() -> Result<T, Failed>) -> Result<(Duration, T), Failed> {
    let started = Instant::now();
    let value = work()?;
    Ok((started.elapsed(), value))
}
