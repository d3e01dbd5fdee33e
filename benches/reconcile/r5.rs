//! R5: a first apply to a service 20 ms away, 16 calls at once, every operation in the journal. The limit is a bare
//! loop of the same requests. Both use plain HTTP to the same sandbox; the merchant is connected beforehand.

use crate::Bench;
use crate::connection::Failed;
use crate::figures::{ms, times};
use crate::makers::Maker;
use crate::report::{Report, Row};
use crate::sides::{Comparison, Side, Sides};

const COMPARISON: Comparison = Comparison {
    goal: "R5",
    delay_ms: Some(20),
    peers: [(Maker::Httpx, 10_000), (Maker::Requests, 1_000)],
};
const GOAL_HUNDREDTHS: u128 = 95;

/// Measures the throughput at this size.
pub(crate) async fn run(
    bench: &Bench,
    documents: usize,
    report: &mut Report,
) -> Result<(), Failed> {
    let Sides { bare, own, peers } = COMPARISON.run(bench, documents, report).await?;
    let row = row("R5 first apply, 20 ms away, throughput".to_owned(), documents, &own, &bare);
    let met = Some(row.ratio >= GOAL_HUNDREDTHS);
    report.add(Row { wanted: "at least 0.95 of the bare loop", met, ..row });
    for peer in peers {
        let goal = format!("R5 against {}", peer.maker.name());
        report.add(self::row(goal, documents, &own, &peer));
    }
    Ok(())
}

/// Returns the throughput as a share of the other's, without a goal.
fn row(goal: String, documents: usize, own: &Side, other: &Side) -> Row {
    Row {
        goal,
        count: documents,
        figure: own.wall().shown(ms),
        limit: ms(other.wall().median),
        ratio: times(other.wall().median, own.wall().median),
        wanted: "",
        met: None,
    }
}
