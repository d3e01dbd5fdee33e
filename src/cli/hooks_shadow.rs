//! `hooks shadow`: runs the scripts of the folder on past events, and compares the outcome with the
//! recorded hook runs.

use std::sync::Arc;

use serde_json::Value;

use super::args::hooks::HooksShadowArgs;
use super::exit::{Exit, Failure};
use super::hooks::{chosen, good};
use super::out::Out;
use super::rehearsal::{merchant, on_stage};
use super::session::Session;
use super::setup::Setup;
use super::{past, since};
use crate::base::clock::{Clock, SystemClock, timestamp};
use crate::engine::PastEvent;
use crate::hooks::shadow::{Differences, Remembered};
use crate::hooks::{Hooks, Reads, TIME_MAX};
use crate::model::hook::Run;
use crate::render::hooks::shadow::{self, Item, Shadow};

/// Runs the command; exits with 2 if something differs.
pub(super) async fn run(setup: &Setup, args: &HooksShadowArgs, out: Out) -> Result<Exit, Failure> {
    let since = since::read(&args.since, SystemClock.now())?;
    let (_, hooks) = good(setup, out)?;
    chosen(&hooks, args.script.as_deref())?;
    let session = Session::look(setup).await?;
    let compared = async {
        let mut shadow = Shadow { version: 1, since: timestamp(&since), ..Shadow::default() };
        for event in past::events(setup, &session, since).await? {
            one(&session, &hooks, args.script.as_deref(), event, &mut shadow).await?;
        }
        Ok(shadow)
    };
    let compared = compared.await;
    let shadow = session.end(setup, compared).await?;
    out.result(&shadow, || shadow::text(&shadow, out.color))?;
    Ok(if shadow.is_same() { Exit::Done } else { Exit::Pending })
}

/// Outcome of the present scripts for one event, and the reads that they made.
struct Now {
    runs: Vec<Run>,
    /// Scripts that fail, with their messages.
    failed: Vec<(String, String)>,
    reads: (usize, usize),
}

async fn one(
    session: &Session,
    hooks: &Hooks,
    script: Option<&str>,
    mut past: PastEvent,
    shadow: &mut Shadow,
) -> Result<(), Failure> {
    shadow.events = shadow.events.saturating_add(1);
    if past.event.is_null() {
        shadow.unreadable = shadow.unreadable.saturating_add(1);
        return Ok(());
    }
    let meant = |name: &str| script.is_none_or(|script| script == name);
    past.runs.retain(|past| meant(&past.run.script));
    past.failures.retain(|failed| meant(&failed.script));
    let past = Arc::new(past);
    let now = now(session, hooks, script, &past).await?;
    shadow.reads_of_then = shadow.reads_of_then.saturating_add(now.reads.0);
    shadow.reads_of_now = shadow.reads_of_now.saturating_add(now.reads.1);
    let item = item(&past, &now);
    if item.differences.is_none() && item.fails.is_empty() && item.mended.is_empty() {
        shadow.same = shadow.same.saturating_add(1);
    } else {
        shadow.items.push(item);
    }
    Ok(())
}

async fn now(
    session: &Session,
    hooks: &Hooks,
    script: Option<&str>,
    past: &Arc<PastEvent>,
) -> Result<Now, Failure> {
    let kind = past.event.get("type").and_then(Value::as_str).unwrap_or_default();
    let mut handlers = hooks.handlers(kind);
    handlers.retain(|handler| script.is_none_or(|script| script == handler.script));
    if handlers.is_empty() {
        return Ok(Now { runs: Vec::new(), failed: Vec::new(), reads: (0, 0) });
    }
    let (hooks, past) = (hooks.clone(), past.clone());
    let whose = merchant(&past.event);
    let run_all = move |present| {
        let mut reads = Remembered::over(present);
        for one in &past.runs {
            reads.learn(&one.run.script, &one.run.looks, &one.answers);
        }
        let reads = Arc::new(reads);
        let dynamic: Arc<dyn Reads> = reads.clone();
        let (mut runs, mut failed) = (Vec::new(), Vec::new());
        for handler in &handlers {
            match hooks.run(handler, &past.event, &dynamic, Some(TIME_MAX)) {
                Ok(run) => runs.push(run),
                Err(failure) => failed.push((handler.script.clone(), failure.to_string())),
            }
        }
        Now { runs, failed, reads: reads.counts() }
    };
    on_stage(session, whose, run_all).await
}

fn item(past: &PastEvent, now: &Now) -> Item {
    let text =
        |name: &str| past.event.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let then: Vec<&Run> = past.runs.iter().map(|past| &past.run).collect();
    let failed_then = |script: &str| past.failures.iter().any(|failed| failed.script == script);
    let ends_well = |script: &str| now.runs.iter().any(|run| run.script == script);
    let mended = past.failures.iter().map(|failed| failed.script.clone());
    let mended = mended.filter(|script| ends_well(script)).collect();
    // The actions of a failing script are unknown, not absent.
    let fails = |run: &&Run| now.failed.iter().any(|(script, _)| *script == run.script);
    let then: Vec<&Run> = then.into_iter().filter(|run| !fails(run)).collect();
    let runs: Vec<&Run> = now.runs.iter().collect();
    Item {
        event: text("id"),
        kind: text("type"),
        merchant: past.merchant.short(),
        created: text("created"),
        reads_of_now: now.reads.1,
        differences: Differences::between(&then, &runs),
        mended,
        fails: now.failed.iter().filter(|(script, _)| !failed_then(script)).cloned().collect(),
    }
}
