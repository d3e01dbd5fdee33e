//! R8: a plan that first reads everything that the service shows. The limit is a bare loop that reads the same lists in
//! the same pages, as many at once. Contacts and invoices have no list at the service, so neither of the two reads them.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};

use crate::bare_reads::{Reads, read_lists};
use crate::connection::Failed;
use crate::figures::{Figure, ms, times};
use crate::proxy::{Odds, Proxy};
use crate::report::{Report, Row};
use crate::settled::Settled;
use crate::{Bench, control};

/// Reads under way at once, of both: a quarter of the program's 16 calls is for reads that no document requires.
const AT_ONCE: usize = 4;
const GOAL_HUNDREDTHS: u128 = 130;
const DELAY_MS: u64 = 20;
const FAULTS: &str = "/_sandbox/faults";

/// Measures plan and limit, first without latency and then with the service 20 ms away.
pub(crate) async fn run(
    bench: &Bench,
    settled: &Settled,
    report: &mut Report,
) -> Result<(), Failed> {
    let keys = keys(settled).await?;
    let calls = calls(settled).await?;
    let near = in_turns(bench, settled, &keys).await?;
    add(report, "R8 plan --refresh", settled.documents, calls, near);
    let service = settled.stand.sandbox.address;
    let fault = json!({
        "method": "GET", "path": "/v1/", "fault": "delay", "delay_ms": DELAY_MS, "probability": 1,
    });
    control::json(service, Method::POST, FAULTS, Some(&fault)).await?;
    let far = in_turns(bench, settled, &keys).await?;
    control::ask(service, Method::DELETE, FAULTS, None).await?;
    add(report, "R8 plan --refresh, 20 ms away", settled.documents, calls, far);
    Ok(())
}

/// Returns the keys of the tree's merchants.
async fn keys(settled: &Settled) -> Result<Vec<String>, Failed> {
    let path = "/_sandbox/credentials";
    let all = control::json(settled.stand.sandbox.address, Method::GET, path, None).await?;
    let merchants = all.get("merchants").and_then(Value::as_array).ok_or("no merchants")?;
    let own = merchants.iter().filter(|merchant| merchant.get("name") != Some(&json!("demo")));
    let keys = own.filter_map(|merchant| merchant.pointer("/test/secret_key")?.as_str());
    Ok(keys.map(str::to_owned).collect())
}

/// Counts the calls of one plan.
async fn calls(settled: &Settled) -> Result<u64, Failed> {
    let odds = Odds { lose_per_mille: 0, error_per_mille: 0, delay_ms_max: 0, spare_reads: true };
    let proxy = Proxy::start(settled.stand.sandbox.address, odds, 0).await?;
    settled.behind(Some(proxy.address))?;
    // The proxy answers on other threads than the one that waits for the plan.
    settled.plan(&["--refresh"])?;
    settled.behind(None)?;
    Ok(proxy.counts().forwarded())
}

/// The plan's times, and the limit's middle round.
type Measured = (Figure<Duration>, Reads);

/// Measures both in turns. The first round warms the page cache and does not count.
async fn in_turns(bench: &Bench, settled: &Settled, keys: &[String]) -> Result<Measured, Failed> {
    let base_url = format!("http://{}", settled.stand.sandbox.address);
    let (mut plans, mut limits, mut reads) = (Vec::new(), Vec::new(), Reads::default());
    for round in 0..=bench.rounds_of(settled.documents) {
        bench.progress.say(&format!("R8  {} documents, round {round}", settled.documents));
        reads = read_lists(&base_url, keys, AT_ONCE).await?;
        let plan = settled.plan(&["--refresh"])?;
        if round > 0 {
            plans.push(plan);
            limits.push(reads.wall);
        }
    }
    let wall = Figure::of_costs(limits).median;
    Ok((Figure::of_costs(plans), Reads { wall, ..reads }))
}

fn add(report: &mut Report, goal: &str, documents: usize, calls: u64, (plan, limit): Measured) {
    let ratio = times(plan.median, limit.wall);
    let Reads { wall, calls: limit_calls, objects } = limit;
    report.add(Row {
        goal: goal.to_owned(),
        count: documents,
        figure: plan.shown(|time| format!("{}, {calls} calls", ms(time))),
        limit: format!("{}, {limit_calls} calls, {objects} objects", ms(wall)),
        ratio,
        wanted: "at most 1.30 x the bare reads, the same calls",
        met: Some(ratio <= GOAL_HUNDREDTHS && calls <= limit_calls),
    });
}
