//! R6: a first apply to a service without latency, 16 calls at once, every operation in the journal. Rate and CPU are
//! compared with a bare loop of the same requests to the same sandbox.

use crate::Bench;
use crate::connection::Failed;
use crate::figures::{rate, ratio, times, us_each};
use crate::makers::Maker;
use crate::report::{Report, Row};
use crate::sides::{Comparison, Side, Sides};

const COMPARISON: Comparison = Comparison {
    goal: "R6",
    delay_ms: None,
    peers: [(Maker::Httpx, 10_000), (Maker::Requests, 10_000)],
};
const RATE_HUNDREDTHS: u128 = 50;
const CPU_HUNDREDTHS: u128 = 400;

/// Measures rate and CPU at this size.
pub(crate) async fn run(
    bench: &Bench,
    documents: usize,
    report: &mut Report,
) -> Result<(), Failed> {
    let Sides { bare, own, peers } = COMPARISON.run(bench, documents, report).await?;
    let row = rates("R6 first apply, no latency, rate".to_owned(), documents, &own, &bare);
    let met = Some(row.ratio >= RATE_HUNDREDTHS);
    report.add(Row { wanted: "at least 0.50 of the bare loop", met, ..row });
    let row = cpus("R6 first apply, no latency, CPU".to_owned(), documents, &own, &bare);
    let met = Some(row.ratio <= CPU_HUNDREDTHS);
    report.add(Row { wanted: "at most 4.00 x the bare loop", met, ..row });
    for peer in peers {
        let name = peer.maker.name();
        report.add(rates(format!("R6 against {name}, rate"), documents, &own, &peer));
        report.add(cpus(format!("R6 against {name}, CPU"), documents, &own, &peer));
    }
    Ok(())
}

/// Returns the rate as a share of the other's, without a goal.
fn rates(goal: String, documents: usize, own: &Side, other: &Side) -> Row {
    let (own, other) = (own.rate(documents), other.rate(documents).median);
    Row {
        goal,
        count: documents,
        figure: own.shown(rate),
        limit: rate(other),
        ratio: ratio(own.median, other),
        wanted: "",
        met: None,
    }
}

/// Returns the CPU as a share of the other's, without a goal.
fn cpus(goal: String, documents: usize, own: &Side, other: &Side) -> Row {
    let (own, other) = (own.cpu(), other.cpu().median);
    Row {
        goal,
        count: documents,
        figure: own.shown(|cpu| us_each(cpu, documents)),
        limit: us_each(other, documents),
        ratio: times(own.median, other),
        wanted: "",
        met: None,
    }
}
