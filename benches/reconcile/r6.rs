//! R6: a first apply to a service without latency, 16 calls at once, every operation in the journal. The rate is
//! compared with a loop that only appends and syncs in groups, the CPU with a bare loop of the same requests.

use crate::Bench;
use crate::bare_loop::make_contacts;
use crate::connection::Failed;
use crate::figures::{Figure, per_second, rate, ratio, times, us_each};
use crate::first_apply::{apply, clear, contacts, token};
use crate::group::append_in_groups;
use crate::meter::Threads;
use crate::r5::AT_ONCE;
use crate::report::{Report, Row};

const RATE_HUNDREDTHS: u128 = 50;
const CPU_HUNDREDTHS: u128 = 600;
/// Least number of appends of the group loop, so that its rate is meaningful.
const APPENDS_MIN: usize = 10_000;

/// Measures all in turns, each round with a new sandbox and a new state.
pub(crate) async fn run(
    bench: &Bench,
    documents: usize,
    report: &mut Report,
) -> Result<(), Failed> {
    let (mut groups, mut bare, mut applies) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..bench.rounds_of(documents) {
        bench.progress.say(&format!("R6  {documents} contacts, round {}", round.saturating_add(1)));
        let stand = contacts(bench, &format!("r6-{documents}-{round}"), documents).await?;
        let appends = documents.max(APPENDS_MIN);
        let grouped = append_in_groups(&stand.folder.join("group"), appends, AT_ONCE).await?;
        groups.push(per_second(appends, grouped));
        let (url, token) = (format!("http://{}", stand.sandbox.address), token(&stand).await?);
        let mut threads = Threads::default();
        let cpu = threads.cpu("self")?;
        make_contacts(&url, &token, documents, AT_ONCE).await?;
        bare.push(threads.cpu("self")?.saturating_sub(cpu));
        applies.push(apply(&stand)?);
        clear(stand)?;
    }
    let group = Figure::of_costs(groups).median;
    let own = Figure::of_rates(applies.iter().map(|cost| per_second(documents, cost.wall)));
    let of_group = ratio(own.median, group);
    report.add(Row {
        goal: "R6 first apply, no latency, rate".to_owned(),
        count: documents,
        figure: own.shown(rate),
        limit: rate(group),
        ratio: of_group,
        wanted: "at least 0.50 of append + fdatasync in groups",
        met: Some(of_group >= RATE_HUNDREDTHS),
    });
    let (bare, own) =
        (Figure::of_costs(bare).median, Figure::of_costs(applies.iter().map(|cost| cost.cpu)));
    let cpu = times(own.median, bare);
    report.add(Row {
        goal: "R6 first apply, no latency, CPU".to_owned(),
        count: documents,
        figure: own.shown(|cpu| us_each(cpu, documents)),
        limit: us_each(bare, documents),
        ratio: cpu,
        wanted: "at most 6.00 x the bare loop",
        met: Some(cpu <= CPU_HUNDREDTHS),
    });
    Ok(())
}
