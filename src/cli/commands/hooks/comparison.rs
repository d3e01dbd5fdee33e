//! `hooks shadow`: runs the scripts of the folder on past events, and compares the outcome with the
//! recorded hook runs.

use std::sync::Arc;

use serde_json::Value;

use super::overview::{check_script, load_valid};
use crate::base::clock::{Clock, SystemClock, timestamp};
use crate::cli::args::hooks::HooksShadowArgs;
use crate::cli::commands::events::history;
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::context::timespec;
use crate::cli::daemon::trial_run::{merchant, on_stage};
use crate::cli::output::exit::{CommandFailure, Exit};
use crate::cli::output::print::Printer;
use crate::engine::hooks::history::PastEvent;
use crate::model::events::hook::HookRun;
use crate::render::hooks::comparison;
use crate::render::hooks::comparison::{EventDiff, HooksDiff};
use crate::scripting::interface::{Hooks, Reads, TIME_MAX};
use crate::scripting::tools::comparison::{RecordedReads, RunDifferences};

/// Runs the command; exits with 2 if something differs.
pub(crate) async fn run(
    setup: &Context,
    args: &HooksShadowArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let since = timespec::parse_since(&args.since, SystemClock.now())?;
    let (_, hooks) = load_valid(setup, out)?;
    check_script(&hooks, args.script.as_deref())?;
    let session = StateSession::open_view(setup).await?;
    let compared = async {
        let mut shadow = HooksDiff { version: 1, since: timestamp(&since), ..HooksDiff::default() };
        for event in history::events(setup, &session, since).await? {
            compare_event(&session, &hooks, args.script.as_deref(), event, &mut shadow).await?;
        }
        Ok(shadow)
    };
    let compared = compared.await;
    let shadow = session.end(setup, compared).await?;
    out.result(&shadow, || comparison::text(&shadow, out.color))?;
    Ok(if shadow.is_unchanged() { Exit::Done } else { Exit::Pending })
}

/// Outcome of the present scripts for one event, and the reads that they made.
struct PresentRuns {
    runs: Vec<HookRun>,
    /// Scripts that fail, with their messages.
    failed: Vec<(String, String)>,
    reads: (usize, usize),
}

async fn compare_event(
    session: &StateSession,
    hooks: &Hooks,
    script: Option<&str>,
    mut past: PastEvent,
    shadow: &mut HooksDiff,
) -> Result<(), CommandFailure> {
    shadow.events = shadow.events.saturating_add(1);
    if past.event.is_null() {
        shadow.unreadable = shadow.unreadable.saturating_add(1);
        return Ok(());
    }
    let meant = |name: &str| script.is_none_or(|script| script == name);
    past.runs.retain(|past| meant(&past.run.script));
    past.failures.retain(|failed| meant(&failed.script));
    let past = Arc::new(past);
    let now = run_present(session, hooks, script, &past).await?;
    shadow.recorded_reads = shadow.recorded_reads.saturating_add(now.reads.0);
    shadow.present_reads = shadow.present_reads.saturating_add(now.reads.1);
    let item = item(&past, &now);
    if item.differences.is_empty() && item.fails.is_empty() && item.fixed.is_empty() {
        shadow.same = shadow.same.saturating_add(1);
    } else {
        shadow.items.push(item);
    }
    Ok(())
}

async fn run_present(
    session: &StateSession,
    hooks: &Hooks,
    script: Option<&str>,
    past: &Arc<PastEvent>,
) -> Result<PresentRuns, CommandFailure> {
    let kind = past.event.get("type").and_then(Value::as_str).unwrap_or_default();
    let mut handlers = hooks.handlers(kind);
    handlers.retain(|handler| script.is_none_or(|script| script == handler.script));
    if handlers.is_empty() {
        return Ok(PresentRuns { runs: Vec::new(), failed: Vec::new(), reads: (0, 0) });
    }
    let (hooks, past) = (hooks.clone(), past.clone());
    let whose = merchant(&past.event);
    let run_all = move |present| {
        let mut reads = RecordedReads::new(present);
        for one in &past.runs {
            reads.record(&one.run.script, &one.run.reads, &one.answers);
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
        PresentRuns { runs, failed, reads: reads.counts() }
    };
    on_stage(session, whose, run_all).await
}

fn item(past: &PastEvent, now: &PresentRuns) -> EventDiff {
    let text =
        |name: &str| past.event.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let then: Vec<&HookRun> = past.runs.iter().map(|past| &past.run).collect();
    let failed_then = |script: &str| past.failures.iter().any(|failed| failed.script == script);
    let ends_well = |script: &str| now.runs.iter().any(|run| run.script == script);
    let mended = past.failures.iter().map(|failed| failed.script.clone());
    let mended = mended.filter(|script| ends_well(script)).collect();
    // The actions of a failing script are unknown, not absent.
    let fails = |run: &&HookRun| now.failed.iter().any(|(script, _)| *script == run.script);
    let then: Vec<&HookRun> = then.into_iter().filter(|run| !fails(run)).collect();
    let runs: Vec<&HookRun> = now.runs.iter().collect();
    EventDiff {
        event: text("id"),
        kind: text("type"),
        merchant: past.merchant.short(),
        created: text("created"),
        present_reads: now.reads.1,
        differences: RunDifferences::between(&then, &runs),
        fixed: mended,
        fails: now.failed.iter().filter(|(script, _)| !failed_then(script)).cloned().collect(),
    }
}
