//! `hooks try`: runs the scripts of the folder on a known event, and shows the actions that they
//! request. The session answers their reads, and nothing is done.

use std::sync::{Arc, mpsc as answers};

use serde_json::Value;
use tokio::sync::mpsc;

use super::overview::{check_script, diagnostic_look, load_valid};
use crate::base::id::Key;
use crate::cli::args::events::HooksTryArgs;
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::exit::{CommandFailure, Exit};
use crate::cli::print::Printer;
use crate::control::requests::ServiceRead;
use crate::engine::hooks::event::remote_get;
use crate::engine::protocol::queries::trial_run::TrialRunQuery;
use crate::engine::protocol::query::{ScriptFindQuery, ScriptResourceQuery, ScriptTrialQuery};
use crate::model::action::RemoteGet;
use crate::render::hooks as shown;
use crate::render::hooks::tried;
use crate::scripting::host::session::Reads;
use crate::scripting::language::limits::{TIME_MAX, on_stack};
use crate::scripting::run::hooks::Hooks;

/// A read, and the channel for its answer.
type PendingRead = (ScriptRead, answers::Sender<Result<Value, String>>);

/// One read of a script.
enum ScriptRead {
    Resource(ScriptResourceQuery),
    Find(ScriptFindQuery),
    Trial(ScriptTrialQuery),
    /// A read that the service answers.
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
        let named = args.get("merchant").and_then(Value::as_str);
        let named = named.and_then(|name| format!("Merchant/{name}").parse().ok());
        let merchant = named.or_else(|| self.merchant.clone()).ok_or_else(nobody)?;
        self.ask(ScriptRead::Remote(remote_get(&merchant, name, args)?))
    }

    fn kv(&self, script: &str, key: &str) -> Result<Value, String> {
        self.rehearse(TrialRunQuery::Kept { script: script.to_owned(), key: key.to_owned() })
    }
}

/// Returns the merchant of an event as scripts see it.
pub(crate) fn merchant(event: &Value) -> Option<Key> {
    let name = event.get("merchant").and_then(Value::as_str)?;
    format!("Merchant/{name}").parse().ok()
}

/// Returns the event as scripts see it.
///
/// # Errors
/// The event is unknown, or not verified.
pub(crate) async fn event(session: &StateSession, id: &str) -> Result<Value, CommandFailure> {
    let event = session.ask(ScriptTrialQuery(TrialRunQuery::Event(id.to_owned()))).await?;
    let unknown = |why: &str| {
        let failure = CommandFailure::input("reckon::events::unknown", why);
        failure.help("list the newest events with `reckon events list`")
    };
    match event {
        Ok(Value::Null) => Err(unknown(&format!("there is no event {id}"))),
        Ok(event) => Ok(event),
        Err(why) => Err(unknown(&format!("event {id}: {why}"))),
    }
}

/// Runs `work` on a thread with a stack for scripts, and answers the reads of the scripts
/// meanwhile.
pub(crate) async fn on_stage<T: Send + 'static>(
    session: &StateSession,
    merchant: Option<Key>,
    work: impl FnOnce(Arc<dyn Reads>) -> T + Send + 'static,
) -> Result<T, CommandFailure> {
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

// `hooks try`: runs the scripts of the folder on a known event, and shows the actions
// that they request.

/// Runs the command. A run that fails is an error of the script (exit 1).
pub(crate) async fn run(
    setup: &Context,
    args: &HooksTryArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let (folder, hooks) = load_valid(setup, out)?;
    check_script(&hooks, args.script.as_deref())?;
    let session = StateSession::open_view(setup).await?;
    let tried = run_scripts(&session, &hooks, args).await;
    let (event, ends) = session.end(setup, tried).await?;
    out.result(&tried::json(&event, &ends, &folder.scripts), || {
        let runs: String = ends.iter().flatten().map(tried::text).collect();
        let failures = ends.iter().filter_map(|end| end.as_ref().err());
        let problems: Vec<_> = failures.map(|failure| failure.problem(&folder.scripts)).collect();
        let none = if ends.is_empty() { "no script handles this event\n" } else { "" };
        [runs.as_str(), none, &shown::problem_report(&folder, &problems, diagnostic_look(out))]
            .concat()
    })?;
    Ok(if ends.iter().any(Result::is_err) { Exit::Input } else { Exit::Done })
}

async fn run_scripts(
    session: &StateSession,
    hooks: &Hooks,
    args: &HooksTryArgs,
) -> Result<(Value, Vec<tried::TrialOutcome>), CommandFailure> {
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
