//! R5: a first apply to a service 20 ms away, 16 calls at once, every operation in the journal. The limit is a bare
//! loop of the same requests. Both use plain HTTP to the same sandbox; the merchant is connected beforehand.

use http::Method;
use serde_json::json;

use crate::bare_loop::make_contacts;
use crate::connection::Failed;
use crate::figures::{Figure, ms, times};
use crate::first_apply::{apply, clear, contacts, token};
use crate::report::{Report, Row};
use crate::{Bench, control};

/// Calls under way at once, of both.
pub(crate) const AT_ONCE: usize = 16;
const DELAY_MS: u64 = 20;
const GOAL_HUNDREDTHS: u128 = 90;

/// Measures both in turns, each round with a new sandbox and a new state. The first of the two alternates.
pub(crate) async fn run(
    bench: &Bench,
    documents: usize,
    report: &mut Report,
) -> Result<(), Failed> {
    let (mut limits, mut applies) = (Vec::new(), Vec::new());
    for round in 0..bench.rounds_of(documents) {
        bench.progress.say(&format!("R5  {documents} contacts, round {}", round.saturating_add(1)));
        let stand = contacts(bench, &format!("r5-{documents}-{round}"), documents).await?;
        let token = token(&stand).await?;
        let base_url = format!("http://{}", stand.sandbox.address);
        let fault = json!({
            "method": "POST", "path": "/contacts", "fault": "delay", "delay_ms": DELAY_MS, "probability": 1,
        });
        control::json(stand.sandbox.address, Method::POST, "/_sandbox/faults", Some(&fault))
            .await?;
        let first = round.is_multiple_of(2);
        if first {
            limits.push(make_contacts(&base_url, &token, documents, AT_ONCE).await?);
        }
        applies.push(apply(&stand)?.wall);
        if !first {
            limits.push(make_contacts(&base_url, &token, documents, AT_ONCE).await?);
        }
        clear(stand)?;
    }
    let (limit, apply) = (Figure::of_costs(limits).median, Figure::of_costs(applies));
    let ratio = times(limit, apply.median);
    report.add(Row {
        goal: "R5 first apply, 20 ms away, throughput".to_owned(),
        count: documents,
        figure: apply.shown(ms),
        limit: ms(limit),
        ratio,
        wanted: "at least 0.90 of the bare loop",
        met: Some(ratio >= GOAL_HUNDREDTHS),
    });
    Ok(())
}
