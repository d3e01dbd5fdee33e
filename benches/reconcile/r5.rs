//! R5: a first apply to a service 20 ms away, 16 at once, every operation in the journal, against a bare loop of the
//! same requests. Both on plain HTTP to the same sandbox; the merchant is connected beforehand.

use std::time::{Duration, Instant};

use http::Method;
use serde_json::json;

use crate::Bench;
use crate::bare_loop::make_contacts;
use crate::connection::Failed;
use crate::control;
use crate::figures::{hundredths, median, met, ms, ratio};
use crate::stand::{Stand, text};
use crate::tree::{self, Kinds};

const CONTACTS: usize = 1_000;
const AT_ONCE: usize = 16;
const DELAY_MS: u64 = 20;
const GOAL_HUNDREDTHS: u128 = 90;

/// Takes turns, each round with a new sandbox and a new state: who is first alternates.
pub(crate) async fn run(bench: &Bench) -> Result<(), Failed> {
    let (mut limits, mut applies) = (Vec::new(), Vec::new());
    for round in 0..bench.rounds {
        let (limit, apply) = one_round(bench, round).await?;
        println!(
            "R5  round {}: apply {} ms, bare loop {} ms",
            round.saturating_add(1),
            ms(apply),
            ms(limit)
        );
        limits.push(limit);
        applies.push(apply);
    }
    let (limit, apply) = (median(&limits), median(&applies));
    let throughput = ratio(limit.as_micros(), apply.as_micros());
    println!(
        "R5  {CONTACTS} contacts, {DELAY_MS} ms away, {AT_ONCE} at once: apply {} ms, bare loop {} ms; throughput {} of \
         the loop's; goal at least 0.90: {}",
        ms(apply),
        ms(limit),
        hundredths(throughput),
        met(throughput >= GOAL_HUNDREDTHS)
    );
    Ok(())
}

async fn one_round(bench: &Bench, round: usize) -> Result<(Duration, Duration), Failed> {
    let tree = tree::documents(Kinds::Contacts, CONTACTS.saturating_add(1), bench.seed)?;
    let folder = bench.folder(&format!("r5-{round}"));
    let stand = Stand::start(&bench.binary, &folder, "public", 1).await?;
    stand.settle_config(stand.sandbox.address, "127.0.0.1:0", ["30s", "30s"])?;
    stand.write(&tree, |_, document| document.kind == "Merchant")?;
    stand.run(&["apply", "--yes"], &[0])?;
    stand.write(&tree, |_, _| true)?;
    let token = token(&stand).await?;
    let fault = json!({
        "method": "POST", "path": "/contacts", "fault": "delay", "delay_ms": DELAY_MS, "probability": 1,
    });
    control::json(stand.sandbox.address, Method::POST, "/_sandbox/faults", Some(&fault)).await?;
    let base_url = format!("http://{}", stand.sandbox.address);
    if round.is_multiple_of(2) {
        let limit = make_contacts(&base_url, &token, CONTACTS, AT_ONCE).await?;
        Ok((limit, apply(&stand)?))
    } else {
        let apply = apply(&stand)?;
        Ok((make_contacts(&base_url, &token, CONTACTS, AT_ONCE).await?, apply))
    }
}

fn apply(stand: &Stand) -> Result<Duration, Failed> {
    let started = Instant::now();
    stand.run(&["apply", "--yes"], &[0])?;
    Ok(started.elapsed())
}

/// A token of another merchant for the bare loop.
async fn token(stand: &Stand) -> Result<String, Failed> {
    let sandbox = stand.sandbox.address;
    let asked = json!({"merchant": "bare-loop"});
    let path = "/_sandbox/credentials";
    let code = control::json(sandbox, Method::POST, path, Some(&asked)).await?;
    let asked = json!({
        "client_id": text(&stand.partner, "client_id")?,
        "client_secret": text(&stand.partner, "client_secret")?,
        "redirect_uri": text(&stand.partner, "redirect_uri")?,
        "grant_type": "authorization_code",
        "scope": "payments",
        "code": text(&code, "authorization_code")?,
    });
    text(&control::json(sandbox, Method::POST, "/oauth/token", Some(&asked)).await?, "access_token")
}
