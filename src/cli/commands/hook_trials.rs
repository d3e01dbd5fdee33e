//! `hooks try` runs the scripts of the folder on a known event, and shows the actions that they
//! request. `hooks diff` runs them on past events, and compares the outcome with the recorded hook
//! runs, which come from the journal of the process that holds the state. The session answers the
//! reads of the scripts, and nothing is done.

use std::sync::{Arc, mpsc as answers};

use chrono::{DateTime, Utc};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::base::clock::{Clock, SystemClock, timestamp};
use crate::base::id::Key;
use crate::cli::args::events::{HooksDiffArgs, HooksTryArgs};
use crate::cli::commands::event_detail::unknown_event;
use crate::cli::commands::hooks::{check_script, load_valid};
use crate::cli::commands::why::{journal_failure, open_journals};
use crate::cli::context::open::Context;
use crate::cli::context::selection;
use crate::cli::context::session::StateSession;
use crate::cli::context::state_handle::EngineOptions;
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::control::requests::{PastEvents, ServiceRead};
use crate::engine::handles::shared::EngineShared;
use crate::engine::hooks::event::{PastEvent, past_events, remote_get};
use crate::engine::protocol::hooks::TrialRunQuery;
use crate::engine::protocol::query::{ScriptFindQuery, ScriptResourceQuery, ScriptTrialQuery};
use crate::model::effect::RemoteGet;
use crate::model::events::hook::HookRun;
use crate::render::hooks as shown;
use crate::render::hooks::runs::{self, EventDiff, HooksDiff};
use crate::render::hooks::views::{TrialOutcome, TrialView};
use crate::scripting::hooks::Hooks;
use crate::scripting::host::session::Reads;
use crate::scripting::language::limits::{TIME_MAX, on_stack};
use crate::scripting::tools::comparison::{RecordedReads, RunDifferences};

type PendingRead = (ScriptRead, answers::Sender<Result<Value, String>>);

enum ScriptRead {
    Resource(ScriptResourceQuery),
    Find(ScriptFindQuery),
    Trial(ScriptTrialQuery),
    Remote(RemoteGet),
}

/// Reads of scripts that the session answers.
struct SessionReads {
    /// The merchant of the event, if it has one.
    merchant: Option<Key>,
    questions: mpsc::UnboundedSender<PendingRead>,
}

impl SessionReads {
    fn ask(&self, ask: ScriptRead) -> Result<Value, String> {
        let (answer, answered) = answers::channel();
        let gone = "the session has ended";
        self.questions.send((ask, answer)).map_err(|_| gone.to_owned())?;
        answered.recv().map_err(|_| gone.to_owned())?
    }

    fn rehearse(&self, asked: TrialRunQuery) -> Result<Value, String> {
        self.ask(ScriptRead::Trial(ScriptTrialQuery(asked)))
    }
}

impl Reads for SessionReads {
    fn resource(&self, key: &str) -> Result<Value, String> {
        self.ask(ScriptRead::Resource(ScriptResourceQuery(key.to_owned())))
    }

    fn find(&self, kind: &str, filter: &Value) -> Result<Value, String> {
        self.ask(ScriptRead::Find(ScriptFindQuery(kind.to_owned(), filter.clone())))
    }

    fn transaction(&self, id: &str) -> Result<Value, String> {
        let Some(merchant) = self.merchant.clone() else { return Ok(Value::Null) };
        self.rehearse(TrialRunQuery::Transaction { merchant, id: id.to_owned() })
    }

    fn remote(&self, name: &str, args: &Value) -> Result<Value, String> {
        let nobody = || "no merchant named: `args` needs the field `merchant`".to_owned();
        let merchant = merchant(args).or_else(|| self.merchant.clone()).ok_or_else(nobody)?;
        self.ask(ScriptRead::Remote(remote_get(&merchant, name, args)?))
    }

    fn kv(&self, script: &str, key: &str) -> Result<Value, String> {
        self.rehearse(TrialRunQuery::Kept { script: script.to_owned(), key: key.to_owned() })
    }
}

/// Returns the merchant that an event or the arguments of a read name.
pub(crate) fn merchant(event: &Value) -> Option<Key> {
    let name = event.get("merchant").and_then(Value::as_str)?;
    format!("Merchant/{name}").parse().ok()
}

/// Returns the event as scripts see it.
pub(crate) async fn event(session: &StateSession, id: &str) -> CommandResult<Value> {
    let event = session.ask(ScriptTrialQuery(TrialRunQuery::Event(id.to_owned()))).await?;
    match event {
        Ok(Value::Null) => Err(unknown_event(format!("there is no event {id}"))),
        Ok(event) => Ok(event),
        Err(why) => Err(unknown_event(format!("event {id}: {why}"))),
    }
}

/// Runs `work` on a thread with a stack for scripts; answers the reads of the scripts meanwhile.
pub(crate) async fn on_stage<T: Send + 'static>(
    session: &StateSession,
    merchant: Option<Key>,
    work: impl FnOnce(Arc<dyn Reads>) -> T + Send + 'static,
) -> CommandResult<T> {
    let (sender, mut questions) = mpsc::unbounded_channel();
    let reads: Arc<dyn Reads> = Arc::new(SessionReads { merchant, questions: sender });
    let worker = tokio::task::spawn_blocking(move || on_stack(move || work(reads)));
    while let Some((ask, answer)) = questions.recv().await {
        // A script that was stopped meanwhile waits for no answer.
        drop(answer.send(answer_read(session, ask).await));
    }
    let done = worker.await.map_err(CommandFailure::bug)?;
    done.ok_or_else(|| CommandFailure::bug("internal error: the script run panicked"))
}

async fn answer_read(session: &StateSession, ask: ScriptRead) -> Result<Value, String> {
    let answer = match (ask, session) {
        (ScriptRead::Resource(query), session) => session.ask(query).await,
        (ScriptRead::Find(query), session) => session.ask(query).await,
        (ScriptRead::Trial(query), session) => session.ask(query).await,
        (ScriptRead::Remote(read), StateSession::Daemon(client)) => {
            client.send(ServiceRead(read)).await.map_err(CommandFailure::from)
        }
        (ScriptRead::Remote(showing), StateSession::Own(_)) => {
            return Err(format!(
                "`{}` needs a running daemon, which reads from the service: start `reckon run`",
                showing.read
            ));
        }
    };
    answer.map_err(|failure| failure.message)?
}

/// Runs the command. A run that fails is an error of the script (exit 1).
pub(crate) async fn try_scripts(setup: &Context, args: &HooksTryArgs) -> CommandResult {
    let (folder, hooks) = load_valid(setup)?;
    check_script(&hooks, args.script.as_deref())?;
    let session = StateSession::open_view(setup).await?;
    let tried = run_scripts(&session, &hooks, args).await;
    let (event, ends) = session.end(setup, tried).await?;
    setup.out.result(&TrialView::new(&event, &ends, &folder.scripts), || {
        let runs: String = ends.iter().flatten().map(runs::run_text).collect();
        let failures = ends.iter().filter_map(|end| end.as_ref().err());
        let problems: Vec<_> = failures.map(|failure| failure.problem(&folder.scripts)).collect();
        let none = if ends.is_empty() { "no script handles this event\n" } else { "" };
        let report = shown::problem_report(&folder, &problems, setup.out.diagnostic_look());
        format!("{runs}{none}{report}")
    })?;
    Ok(if ends.iter().any(Result::is_err) { Exit::Input } else { Exit::Done })
}

async fn run_scripts(
    session: &StateSession,
    hooks: &Hooks,
    args: &HooksTryArgs,
) -> CommandResult<(Value, Vec<TrialOutcome>)> {
    let event = event(session, &args.event).await?;
    let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
    let mut ends = Vec::new();
    for handler in hooks.handlers(kind) {
        if args.script.as_ref().is_none_or(|name| *name == handler.script) {
            let (hooks, own, whose) = (hooks.clone(), event.clone(), merchant(&event));
            let run = move |reads| hooks.run(&handler, &own, &reads, Some(TIME_MAX));
            ends.push(on_stage(session, whose, run).await?);
        }
    }
    Ok((event, ends))
}

/// Runs the command; exits with 2 if something differs.
pub(crate) async fn diff(setup: &Context, args: &HooksDiffArgs) -> CommandResult {
    let since = selection::parse_since(&args.since, SystemClock.now())?;
    let (_, hooks) = load_valid(setup)?;
    check_script(&hooks, args.script.as_deref())?;
    let session = StateSession::open_view(setup).await?;
    let compared = async {
        let mut diff = HooksDiff { version: 1, since: timestamp(&since), ..HooksDiff::default() };
        for event in past_events_since(setup, &session, since).await? {
            compare_event(&session, &hooks, args.script.as_deref(), event, &mut diff).await?;
        }
        Ok(diff)
    }
    .await;
    let diff = session.end(setup, compared).await?;
    setup.out.result(&diff, || runs::comparison_text(&diff, setup.out.screen))?;
    Ok(if diff.items.is_empty() { Exit::Done } else { Exit::Pending })
}

struct PresentRuns {
    runs: Vec<HookRun>,
    failed: Vec<(String, String)>,
    reads: (usize, usize),
}

async fn compare_event(
    session: &StateSession,
    hooks: &Hooks,
    script: Option<&str>,
    mut past: PastEvent,
    shadow: &mut HooksDiff,
) -> CommandResult<()> {
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
    let item = event_diff(&past, &now);
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
) -> CommandResult<PresentRuns> {
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

fn event_diff(past: &PastEvent, now: &PresentRuns) -> EventDiff {
    let text =
        |name: &str| past.event.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let failed_then = |script: &str| past.failures.iter().any(|failed| failed.script == script);
    let ends_well = |script: &str| now.runs.iter().any(|run| run.script == script);
    let mended = past.failures.iter().map(|failed| failed.script.clone());
    let mended = mended.filter(|script| ends_well(script)).collect();
    // The actions of a failing script are unknown, not absent.
    let fails = |run: &&HookRun| now.failed.iter().any(|(script, _)| *script == run.script);
    let then = past.runs.iter().map(|past| &past.run);
    let then: Vec<&HookRun> = then.filter(|run| !fails(run)).collect();
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

pub(crate) async fn past_events_since(
    setup: &Context,
    session: &StateSession,
    since: DateTime<Utc>,
) -> CommandResult<Vec<PastEvent>> {
    match session {
        StateSession::Daemon(client) => Ok(client.send(PastEvents(since)).await?),
        // Opening the files would create them.
        StateSession::Own(_) if !setup.has_state()? => Ok(Vec::new()),
        StateSession::Own(own) => {
            let shared = setup.engine_parts(&own.open, EngineOptions::default())?;
            past_events_of_daemon(setup, &shared, since)
        }
    }
}

pub(crate) fn past_events_of_daemon(
    setup: &Context,
    shared: &EngineShared,
    since: DateTime<Utc>,
) -> CommandResult<Vec<PastEvent>> {
    let past =
        open_journals(setup)?.events(since, shared.writer.head()).map_err(journal_failure)?;
    Ok(past_events(shared, past))
}
