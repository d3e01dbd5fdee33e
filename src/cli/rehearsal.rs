//! Rehearsal of this machine's scripts against the state: the session answers their reads, and
//! nothing is done.

use std::sync::Arc;
use std::sync::mpsc as answers;

use serde_json::Value;
use tokio::sync::mpsc;

use super::exit::Failure;
use super::session::Session;
use crate::base::id::Key;
use crate::control::Request;
use crate::engine::{Question, Rehearsing, Reply, showing};
use crate::hooks::{Reads, on_stack};
use crate::model::showing::Showing;

/// A read, and the channel for its answer.
type Asked = (Ask, answers::Sender<Result<Value, String>>);

/// One read of a script.
enum Ask {
    /// A read that the engine answers.
    Known(Question),
    /// A read that the service answers.
    Remote(Box<Showing>),
}

/// Reads of scripts that the session answers.
struct Asking {
    /// The merchant of the event, if it has one.
    merchant: Option<Key>,
    questions: mpsc::UnboundedSender<Asked>,
}

impl Asking {
    fn ask(&self, ask: Ask) -> Result<Value, String> {
        let (answer, answered) = answers::channel();
        let gone = "nobody answers any more";
        self.questions.send((ask, answer)).map_err(|_| gone.to_owned())?;
        answered.recv().map_err(|_| gone.to_owned())?
    }

    fn rehearse(&self, asked: Rehearsing) -> Result<Value, String> {
        self.ask(Ask::Known(Question::Rehearsing(asked)))
    }
}

impl Reads for Asking {
    fn resource(&self, key: &str) -> Result<Value, String> {
        self.ask(Ask::Known(Question::Known(key.to_owned())))
    }

    fn find(&self, kind: &str, filter: &Value) -> Result<Value, String> {
        self.ask(Ask::Known(Question::Sought(kind.to_owned(), filter.clone())))
    }

    fn transaction(&self, id: &str) -> Result<Value, String> {
        let Some(merchant) = self.merchant.clone() else { return Ok(Value::Null) };
        self.rehearse(Rehearsing::Transaction { merchant, id: id.to_owned() })
    }

    fn remote(&self, name: &str, args: &Value) -> Result<Value, String> {
        let nobody = || "no merchant is named: `args` needs the field `merchant`".to_owned();
        let named = args.get("merchant").and_then(Value::as_str);
        let named = named.and_then(|name| format!("Merchant/{name}").parse().ok());
        let merchant = named.or_else(|| self.merchant.clone()).ok_or_else(nobody)?;
        self.ask(Ask::Remote(Box::new(showing(&merchant, name, args)?)))
    }

    fn kv(&self, script: &str, key: &str) -> Result<Value, String> {
        self.rehearse(Rehearsing::Kept { script: script.to_owned(), key: key.to_owned() })
    }
}

/// Returns the merchant of an event as scripts see it.
pub(super) fn merchant(event: &Value) -> Option<Key> {
    let name = event.get("merchant").and_then(Value::as_str)?;
    format!("Merchant/{name}").parse().ok()
}

/// Returns the event as scripts see it.
///
/// # Errors
/// The event is unknown, or not verified.
pub(super) async fn event(session: &Session, id: &str) -> Result<Value, Failure> {
    let question = Question::Rehearsing(Rehearsing::Event(id.to_owned()));
    let Reply::Known(event) = session.ask(question).await? else {
        return Err(Failure::bug("an event was not answered by one"));
    };
    let unknown = |why: &str| {
        let failure = Failure::input("reckon::events::unknown", why);
        failure.help("`reckon events list` shows the newest ones")
    };
    match event {
        Ok(Value::Null) => Err(unknown(&format!("there is no event {id}"))),
        Ok(event) => Ok(event),
        Err(why) => Err(unknown(&format!("event {id}: {why}"))),
    }
}

/// Runs `work` on a thread with a stack for scripts, and answers the reads of the scripts
/// meanwhile.
pub(super) async fn on_stage<T: Send + 'static>(
    session: &Session,
    merchant: Option<Key>,
    work: impl FnOnce(Arc<dyn Reads>) -> T + Send + 'static,
) -> Result<T, Failure> {
    let (sender, mut questions) = mpsc::unbounded_channel();
    let reads: Arc<dyn Reads> = Arc::new(Asking { merchant, questions: sender });
    let worker = tokio::task::spawn_blocking(move || on_stack(move || work(reads)));
    while let Some((ask, answer)) = questions.recv().await {
        // A script that was stopped meanwhile waits for no answer.
        drop(answer.send(answered(session, ask).await));
    }
    let done = worker.await.map_err(Failure::bug)?;
    done.ok_or_else(|| Failure::bug("a run ended where it never should"))
}

async fn answered(session: &Session, ask: Ask) -> Result<Value, String> {
    let reply = match (ask, session) {
        (Ask::Known(question), session) => session.ask(question).await,
        (Ask::Remote(showing), Session::Daemon(client)) => {
            client.request(&Request::Show(showing)).await.map_err(Failure::from)
        }
        (Ask::Remote(showing), Session::Own(_)) => {
            return Err(format!(
                "`{}` is read from the service by a daemon alone: start `reckon run`",
                showing.read
            ));
        }
    };
    match reply {
        Ok(Reply::Known(answer) | Reply::Shown(answer)) => answer,
        Ok(_) => Err("it was answered by something else".to_owned()),
        Err(failure) => Err(failure.message),
    }
}
