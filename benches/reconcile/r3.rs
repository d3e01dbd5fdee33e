//! R3: a first load without a cache, against read + BLAKE3 + a typed parse of the same files. The figure is CPU, since
//! the load has several threads and the limit has one.

use crate::connection::Failed;
use crate::figures::{Figure, times, us_each};
use crate::report::{Report, Row};
use crate::settled::Settled;
use crate::typed::read_and_parse;
use crate::{Bench, meter};

const GOAL_HUNDREDTHS: u128 = 180;
/// Number of documents that are measured together: the kernel shows CPU in hundredths of a second.
const TOGETHER: usize = 20_000;

/// Measures the limit and `validate` in turns.
pub(crate) fn run(bench: &Bench, settled: &Settled, report: &mut Report) -> Result<(), Failed> {
    let specs = settled.stand.folder.join("specs");
    let documents = settled.documents;
    let times_each = TOGETHER.div_ceil(documents);
    let (mut limits, mut loads) = (Vec::new(), Vec::new());
    for _ in 0..bench.rounds_of(documents) {
        let (parse, load) = (meter::this_thread()?, meter::children()?);
        for _ in 0..times_each {
            let parsed = read_and_parse(&specs)?;
            if parsed != documents {
                return Err(format!("{parsed} parsed, {documents} documents").into());
            }
            settled.stand.run(&["validate"], &[0])?;
        }
        limits.push(meter::this_thread()?.saturating_sub(parse));
        loads.push(meter::children()?.saturating_sub(load));
    }
    let (limit, load) = (Figure::of_costs(limits).median, Figure::of_costs(loads));
    let ratio = times(load.median, limit);
    let each = documents.saturating_mul(times_each);
    report.add(Row {
        goal: "R3 first load, CPU".to_owned(),
        count: documents,
        figure: load.shown(|cpu| us_each(cpu, each)),
        limit: us_each(limit, each),
        ratio,
        wanted: "at most 1.80 x read + BLAKE3 + typed serde_yaml",
        met: Some(ratio <= GOAL_HUNDREDTHS),
    });
    Ok(())
}
