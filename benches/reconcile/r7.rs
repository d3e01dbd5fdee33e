//! R7: the cost of one resource does not depend on the number of resources.

use std::time::Duration;

use crate::connection::Failed;
use crate::figures::{Shown, ratio, us_each};
use crate::report::{Report, Row};
use crate::settled::Settled;
use crate::{Bench, meter};

const GOAL_HUNDREDTHS: u128 = 115;
/// Number of documents whose plans are measured together: the kernel shows CPU in hundredths of a second.
const TOGETHER: usize = 50_000;
const PLANS_MIN: usize = 5;

/// CPU of the first apply and of a plan that changes nothing.
#[derive(Debug)]
pub(crate) struct Cpu {
    documents: usize,
    apply: Duration,
    plans: Duration,
    /// Number of plans in `plans`.
    count: usize,
}

/// Returns the CPU of a settled tree's first apply and of its plans.
pub(crate) fn cost(bench: &Bench, settled: &Settled) -> Result<Cpu, Failed> {
    let documents = settled.documents();
    let count = TOGETHER.div_ceil(documents).max(PLANS_MIN).max(bench.rounds);
    settled.plan(&[])?;
    let before = meter::children()?;
    for _ in 0..count {
        settled.plan(&[])?;
    }
    let plans = meter::children()?.saturating_sub(before);
    Ok(Cpu { documents, apply: settled.first_apply.cpu, plans, count })
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

fn add(report: &mut Report, goal: &str, documents: usize, [many, few]: [(Duration, usize); 2]) {
    let picoseconds = |(time, count): (Duration, usize)| {
        let count = u128::try_from(count).unwrap_or(u128::MAX);
        time.as_nanos().saturating_mul(1000).checked_div(count).unwrap_or(u128::MAX)
    };
    let ratio = ratio(picoseconds(many), picoseconds(few));
    report.add(Row {
        goal: goal.to_owned(),
        count: documents,
        figure: Shown::once(us_each(many.0, many.1)),
        limit: us_each(few.0, few.1),
        ratio,
        wanted: "at most 1.15 x that of the smallest tree",
        met: Some(ratio <= GOAL_HUNDREDTHS),
    });
}
