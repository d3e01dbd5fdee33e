//! `hooks diff`: runs the scripts of the folder on past events, and compares the outcome with the
//! recorded hook runs, which come from the journal of the process that holds the state.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::overview::{check_script, load_valid};
use super::trial_run::{merchant, on_stage};
use crate::base::clock::{Clock, SystemClock, timestamp};
use crate::cli::args::events::HooksDiffArgs;
use crate::cli::commands::inspect::why::{journal_failure, open_journals};
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::context::state_handle::EngineOptions;
use crate::cli::context::timespec;
use crate::cli::exit::{CommandFailure, Exit};
use crate::cli::print::Printer;
use crate::control::requests::PastEvents;
use crate::engine::handles::shared::EngineShared;
use crate::engine::hooks::history::{PastEvent, past_events};
use crate::model::events::hook::HookRun;
use crate::render::hooks::comparison;
use crate::render::hooks::comparison::{EventDiff, HooksDiff};
use crate::scripting::host::session::Reads;
use crate::scripting::language::limits::TIME_MAX;
use crate::scripting::run::hooks::Hooks;
use crate::scripting::tools::comparison::{RecordedReads, RunDifferences};

/// Runs the command; exits with 2 if something differs.
pub(crate) async fn run(
    setup: &Context,
    args: &HooksDiffArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let since = timespec::parse_since(&args.since, SystemClock.now())?;
    let (_, hooks) = load_valid(setup, out)?;
    check_script(&hooks, args.script.as_deref())?;
    let session = StateSession::open_view(setup).await?;
    let compared = async {
        let mut diff = HooksDiff { version: 1, since: timestamp(&since), ..HooksDiff::default() };
        for event in events(setup, &session, since).await? {
            compare_event(&session, &hooks, args.script.as_deref(), event, &mut diff).await?;
        }
        Ok(diff)
    };
    let compared = compared.await;
    let diff = session.end(setup, compared).await?;
    out.result(&diff, || comparison::text(&diff, out.color))?;
    Ok(if diff.is_unchanged() { Exit::Done } else { Exit::Pending })
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

// Past events and their hook runs, from the journal of the process that holds the state.

/// Returns the events since a moment.
pub(crate) async fn events(
    setup: &Context,
    session: &StateSession,
    since: DateTime<Utc>,
) -> Result<Vec<PastEvent>, CommandFailure> {
    match session {
        StateSession::Daemon(client) => Ok(client.send(PastEvents(since)).await?),
        // Opening the files would create them.
        StateSession::Own(_) if !setup.has_state()? => Ok(Vec::new()),
        StateSession::Own(own) => {
            let shared = setup.engine_parts(&own.open, EngineOptions::default())?;
            of_daemon(setup, &shared, since)
        }
    }
}

/// Returns the events of this process's journal.
pub(crate) fn of_daemon(
    setup: &Context,
    shared: &EngineShared,
    since: DateTime<Utc>,
) -> Result<Vec<PastEvent>, CommandFailure> {
    let past =
        open_journals(setup)?.events(since, shared.writer.head()).map_err(journal_failure)?;
    Ok(past_events(shared, past))
}
