//! Rehearsal of this machine's scripts against the state: the session answers their reads, and
//! nothing is done.

use std::sync::Arc;
use std::sync::mpsc as answers;

use serde_json::Value;
use tokio::sync::mpsc;

use crate::base::id::Key;
use crate::cli::context::session::StateSession;
use crate::cli::output::exit::CommandFailure;
use crate::control::protocol::ControlRequest;
use crate::engine::hooks::event::remote_get;
use crate::engine::queries::protocol::{EngineQuery, Reply};
use crate::engine::queries::trial_run::TrialRunQuery;
use crate::model::operator::remote_get::RemoteGet;
use crate::scripting::interface::Reads;
use crate::scripting::run::stack::on_stack;

/// A read, and the channel for its answer.
type PendingRead = (ScriptRead, answers::Sender<Result<Value, String>>);

/// One read of a script.
enum ScriptRead {
    /// A read that the engine answers.
    Known(EngineQuery),
    /// A read that the service answers.
    Remote(Box<RemoteGet>),
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
        self.ask(ScriptRead::Known(EngineQuery::TrialRun(asked)))
    }
}

impl Reads for SessionReads {
    fn resource(&self, key: &str) -> Result<Value, String> {
        self.ask(ScriptRead::Known(EngineQuery::ScriptResource(key.to_owned())))
    }

    fn find(&self, kind: &str, filter: &Value) -> Result<Value, String> {
        self.ask(ScriptRead::Known(EngineQuery::ScriptFind(kind.to_owned(), filter.clone())))
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
        self.ask(ScriptRead::Remote(Box::new(remote_get(&merchant, name, args)?)))
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
    let question = EngineQuery::TrialRun(TrialRunQuery::Event(id.to_owned()));
    let Reply::ScriptData(event) = session.ask(question).await? else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected an \
            event",
        ));
    };
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
    let reply = match (ask, session) {
        (ScriptRead::Known(question), session) => session.ask(question).await,
        (ScriptRead::Remote(showing), StateSession::Daemon(client)) => {
            client.request(&ControlRequest::RemoteGet(showing)).await.map_err(CommandFailure::from)
        }
        (ScriptRead::Remote(showing), StateSession::Own(_)) => {
            return Err(format!(
                "`{}` needs a running daemon, which reads from the service: start `reckon run`",
                showing.read
            ));
        }
    };
    match reply {
        Ok(Reply::ScriptData(answer) | Reply::RemoteGet(answer)) => answer,
        Ok(_) => Err("internal error: unexpected response type".to_owned()),
        Err(failure) => Err(failure.message),
    }
}
