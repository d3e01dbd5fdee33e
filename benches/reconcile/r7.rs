//! R7: the cost of one resource does not depend on the number of resources.

use std::time::Duration;

use crate::connection::Failed;
use crate::figures::{Figure, ratio, us_each};
use crate::report::{Report, Row};
use crate::settled::Settled;
use crate::{Bench, meter};

const GOAL_HUNDREDTHS: u128 = 115;
/// Number of documents whose plans are measured together: the kernel shows CPU in hundredths of a second.
const TOGETHER: usize = 50_000;
/// Least number of plans that are measured together.
const PLANS_MIN: usize = 3;

/// CPU of first applies and of plans that change nothing.
#[derive(Debug)]
pub(crate) struct Cpu {
    documents: usize,
    apply: Figure<Duration>,
    /// CPU of `count` plans.
    plans: Figure<Duration>,
    count: usize,
}

/// Returns the CPU at a settled tree's size. Every round applies a tree of its own for the first time; the plans are of
/// this one.
pub(crate) async fn cost(bench: &Bench, settled: &Settled) -> Result<Cpu, Failed> {
    let documents = settled.documents;
    let mut applies = vec![settled.first_apply.cpu];
    for round in 1..bench.rounds_of(documents) {
        let other = Settled::make(bench, documents, round).await?;
        applies.push(other.first_apply.cpu);
        other.clear()?;
    }
    let count = TOGETHER.div_ceil(documents).max(PLANS_MIN);
    let plans = plans(bench, settled, count)?;
    Ok(Cpu { documents, apply: Figure::of_costs(applies), plans, count })
}

fn plans(bench: &Bench, settled: &Settled, count: usize) -> Result<Figure<Duration>, Failed> {
    let mut rounds = Vec::new();
    settled.plan(&[])?;
    for _ in 0..bench.rounds_of(settled.documents) {
        let before = meter::children()?;
        for _ in 0..count {
            settled.plan(&[])?;
        }
        rounds.push(meter::children()?.saturating_sub(before));
    }
    Ok(Figure::of_costs(rounds))
}

/// Compares every size with the smallest.
pub(crate) fn run(costs: &[Cpu], report: &mut Report) {
    let Some((few, more)) = costs.split_first() else { return };
    for many in more {
        let first_apply = [(many.apply, many.documents), (few.apply, few.documents)];
        add(report, "R7 first apply, CPU each", many.documents, first_apply);
        let each = |cpu: &Cpu| (cpu.plans, cpu.documents.saturating_mul(cpu.count));
        add(report, "R7 no-op plan, CPU each", many.documents, [each(many), each(few)]);
    }
}

/// CPU, and the number of resources that it served.
type Served = (Figure<Duration>, usize);

fn add(report: &mut Report, goal: &str, documents: usize, [many, few]: [Served; 2]) {
    let picoseconds = |(time, count): Served| {
        let count = u128::try_from(count).unwrap_or(u128::MAX);
        time.median.as_nanos().saturating_mul(1000).checked_div(count).unwrap_or(u128::MAX)
    };
    let ratio = ratio(picoseconds(many), picoseconds(few));
    report.add(Row {
        goal: goal.to_owned(),
        count: documents,
        figure: many.0.shown(|cpu| us_each(cpu, many.1)),
        limit: us_each(few.0.median, few.1),
        ratio,
        wanted: "at most 1.15 x that of the smallest tree",
        met: Some(ratio <= GOAL_HUNDREDTHS),
    });
}
