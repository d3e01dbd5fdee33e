//! The requests of people and programs, whatever carries them.
//!
//! One door to the engine: the socket, HTTP and the command line all ask through [`Control`], so
//! that an answer does not depend on the way it came. A transport adds who asks and how the bytes
//! travel, and decides nothing.

mod adopting;
mod attaching;
mod keeping;
pub mod look;
mod posts;
mod receiver;
mod rights;
pub mod socket;
pub mod wire;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use crate::base::id::{IntentId, Key, Mode};
use crate::engine::{
    Allowing, Approving, ApprovingPlan, Asked, Attaching, Event, Inbox, Link, Notice, Page,
    Question, Recovering, Reply, Resolving, Said, Taken,
};
use crate::model::action::Action;
use crate::model::adoption::{Adopting, Forgetting, Inventory};
use crate::model::bound::LiveBinding;
use crate::model::epoch::Releasing;
use crate::model::rotation::Rotating;
use crate::model::showing::Showing;
use crate::model::suspension::Pause;
use look::{Desk, Look};

pub use posts::{Answered, Posts};

/// What can be requested: one JSON object, such as `{"ask":"plan"}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// An answer from what the engine knows.
    Ask(Question),
    /// A person approves just this live binding.
    Approve(Box<LiveBinding>),
    /// A change that no document stands for.
    Act(Box<Action>),
    /// How an intent is to be settled.
    Resolve(IntentId, Said),
    /// A person approves the plan of this checksum; who it is, the door says.
    ApprovePlan(Box<ApprovingPlan>),
    /// A person says that removals are meant.
    Allow(Allowing),
    /// The plan, once every file's content was read again: `"verify"`.
    Verify,
    /// The plan, once everything that the service shows was looked at: `"refresh"`.
    Refresh,
    /// The portal link of this invoice: a secret.
    Link(Key),
    /// A person suspends or resumes something.
    Pause(Box<Pause>),
    /// A person's word that nothing was sent for these since the backup; none: for any.
    Release(Releasing),
    /// A look at what the process has beside the engine.
    Look(Box<Look>),
    /// An object of the service is taken over for a document.
    Import(Box<Adopting>),
    /// What a merchant has, object by object.
    Inventory(Inventory),
    /// What the service answers to a read.
    Show(Box<Showing>),
    /// The tree is looked at again, and these are taken over, one after the other.
    ImportAll(Vec<Adopting>),
    /// The hooks of this event that failed for good are run again.
    Replay(String),
    /// A resource, or an object with a mark of ours, is let go.
    Forget(Forgetting),
    /// A one-time token is brought for a saved method.
    Attach(Attaching),
    /// Addresses that the service was given are exchanged.
    Rotate(Rotating),
    /// Lists of events are read again.
    Recover(Recovering),
    /// A person has seen what became of the hooks of this event.
    Dismiss(String),
    /// A person has looked after what an intent made again, for this reason.
    DismissOrphan(IntentId, String),
    /// An absent script is let go.
    ForgetScript(String),
    /// The state is compacted.
    Compact {
        /// Its history is dropped.
        drop_history: bool,
    },
    /// The key of the state is exchanged; only over the socket of the daemon's own machine.
    Rekey {
        /// The file of the new key on that machine; none: the daemon makes it.
        new_key_file: Option<PathBuf>,
    },
}

/// What comes back: `{"Ok": …}` or `{"Err": {code, message, help}}`.
pub type Response = Result<Reply, ControlError>;

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ControlError {
    /// A word for programs: one of the constants of this type.
    pub code: String,
    /// What happened.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl ControlError {
    /// The engine ended before it answered.
    pub const STOPPED: &str = "engine_stopped";
    /// The request cannot be read.
    pub const BAD_REQUEST: &str = "bad_request";
    /// The request has too many bytes.
    pub const TOO_LONG: &str = "request_too_long";
    /// Too many ask at once.
    pub const BUSY: &str = "too_many_connections";
    /// Who asks may not.
    pub const NOT_ALLOWED: &str = "not_allowed";
    /// The connection broke before the answer.
    pub const LOST: &str = "connection_lost";
    /// There is a socket, but it cannot be used.
    pub const UNUSABLE: &str = "socket_unusable";

    /// An error with one of the codes above.
    pub fn new(code: &str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), help: help.into() }
    }

    /// The engine ended, or is about to.
    fn stopped() -> Self {
        Self::new(
            Self::STOPPED,
            "the engine stopped before it answered",
            "look at the daemon's log, start it again and ask again",
        )
    }
}

/// The way to the engine. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Control {
    engine: mpsc::Sender<Event>,
    desk: Arc<OnceLock<Arc<dyn Desk>>>,
    inbox: Arc<OnceLock<Inbox>>,
    posts: Arc<Posts>,
}

impl Control {
    /// A way to the engine that reads these events.
    pub fn new(engine: mpsc::Sender<Event>) -> Self {
        Self { engine, desk: Arc::default(), inbox: Arc::default(), posts: Arc::default() }
    }

    /// Asks and waits for the answer, for as long as it takes. Errors: the engine ended.
    pub async fn ask(&self, question: Question) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = Event::Ask(question, reply);
        self.engine.send(event).await.map_err(|_| ControlError::stopped())?;
        answer.await.map_err(|_| ControlError::stopped())
    }

    /// The plan, once every file's content was read again. Errors: the engine ended.
    pub async fn verify(&self) -> Response {
        let (reply, answer) = oneshot::channel();
        self.engine.send(Event::Verify(reply)).await.map_err(|_| ControlError::stopped())?;
        answer.await.map_err(|_| ControlError::stopped())
    }

    /// The plan, once everything that the service shows was looked at. Errors: the engine ended.
    pub async fn refresh(&self) -> Response {
        let (reply, answer) = oneshot::channel();
        self.engine.send(Event::Refresh(reply)).await.map_err(|_| ControlError::stopped())?;
        answer.await.map_err(|_| ControlError::stopped())
    }

    /// Hands over a notification of the service; returns once it is on disk. Errors: the engine ended.
    pub async fn notify(&self, notice: Notice) -> Result<(), ControlError> {
        let (stored, answer) = oneshot::channel();
        let event = Event::Notice(notice, stored);
        self.engine.send(event).await.map_err(|_| ControlError::stopped())?;
        answer.await.map_err(|_| ControlError::stopped())
    }

    /// Opens the door for merchants' events.
    pub fn receive(&self, inbox: Inbox) {
        // It is opened once: a second one would be of another state.
        drop(self.inbox.set(inbox));
    }

    /// Hands over what was posted to the address of a merchant's events; returns once it is on disk. Errors: the state
    /// is not open yet, or failed.
    pub async fn post(
        &self,
        merchant: &Key,
        mode: Mode,
        body: &[u8],
    ) -> Result<Taken, ControlError> {
        let inbox = self.inbox.get().ok_or_else(ControlError::stopped)?;
        inbox.post(merchant, mode, body).await.map_err(|error| {
            tracing::error!(%error, "a posted event could not be stored");
            ControlError::stopped()
        })
    }

    /// Has the page made that an applicant may open, or the portal link of an invoice. Errors: the engine ended.
    pub async fn visit(&self, key: Key) -> Result<Page, ControlError> {
        let (page, answer) = oneshot::channel();
        let event = Event::Visit(key, page);
        self.engine.send(event).await.map_err(|_| ControlError::stopped())?;
        answer.await.map_err(|_| ControlError::stopped())
    }

    /// Has a live binding approved in the name of this actor. Errors: the engine ended.
    pub async fn approve(&self, binding: LiveBinding, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = Event::Approve(Approving { binding, actor }, reply);
        self.hears(event, answer).await
    }

    /// Has an action done in the name of this actor. Errors: the engine ended.
    pub async fn act(&self, action: Action, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = Event::Act(Asked { action, actor }, reply);
        self.hears(event, answer).await
    }

    /// Has an intent settled as this actor says. Errors: the engine ended.
    pub async fn resolve(&self, id: IntentId, said: Said, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = Event::Resolve(Resolving { id, said, actor }, reply);
        self.hears(event, answer).await
    }

    /// Has the plan approved in the name of this actor. Errors: the engine ended.
    pub async fn approve_plan(&self, plan: ApprovingPlan, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = Event::ApprovePlan(ApprovingPlan { actor, ..plan }, reply);
        self.engine.send(event).await.map_err(|_| ControlError::stopped())?;
        answer.await.map_err(|_| ControlError::stopped())
    }

    /// Has something suspended or resumed in the name of this actor. Errors: the engine ended.
    pub async fn pause(&self, pause: Pause, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = Event::Pause(pause, actor, reply);
        self.engine.send(event).await.map_err(|_| ControlError::stopped())?;
        answer.await.map_err(|_| ControlError::stopped())
    }

    /// Has it written down that this actor means removals. Errors: the engine ended.
    pub async fn allow(&self, allowing: Allowing, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = Event::Allow(allowing, actor, reply);
        self.engine.send(event).await.map_err(|_| ControlError::stopped())?;
        answer.await.map_err(|_| ControlError::stopped())
    }

    /// Has it written down, in the name of this actor, that nothing was sent for these resources since the
    /// backup. Errors: the engine ended.
    pub async fn release(&self, said: Releasing, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = Event::Release(said, actor, reply);
        self.engine.send(event).await.map_err(|_| ControlError::stopped())?;
        answer.await.map_err(|_| ControlError::stopped())
    }

    /// Hands an event over and waits for its answer. Errors: the engine ended.
    async fn hears(&self, event: Event, answer: oneshot::Receiver<Reply>) -> Response {
        self.engine.send(event).await.map_err(|_| ControlError::stopped())?;
        answer.await.map_err(|_| ControlError::stopped())
    }

    /// Does what a request of this actor says.
    pub async fn handle(&self, request: Request, actor: String) -> Response {
        match request {
            Request::Ask(question) => self.ask(question).await,
            Request::Approve(binding) => self.approve(*binding, actor).await,
            Request::Act(action) => self.act(*action, actor).await,
            Request::Resolve(id, said) => self.resolve(id, said, actor).await,
            Request::ApprovePlan(plan) => self.approve_plan(*plan, actor).await,
            Request::Allow(allowing) => self.allow(allowing, actor).await,
            Request::Verify => self.verify().await,
            Request::Refresh => self.refresh().await,
            Request::Pause(pause) => self.pause(*pause, actor).await,
            Request::Release(said) => self.release(said, actor).await,
            Request::Look(look) => self.look(*look).await,
            Request::Import(asked) => {
                let (reply, answer) = oneshot::channel();
                self.hears(Event::Import(*asked, actor, reply), answer).await
            }
            Request::Show(asked) => {
                let (reply, answer) = oneshot::channel();
                self.hears(Event::Show(*asked, reply), answer).await
            }
            Request::Inventory(asked) => {
                let (reply, answer) = oneshot::channel();
                self.hears(Event::Inventory(asked, reply), answer).await
            }
            Request::ImportAll(all) => self.import_all(all, &actor).await,
            Request::Replay(event) => self.replay(event, actor).await,
            Request::Forget(what) => self.forget(what, actor).await,
            Request::Compact { drop_history } => self.compact(drop_history, actor).await,
            Request::Rekey { new_key_file } => self.rekey(new_key_file, actor).await,
            Request::Attach(attaching) => self.attach(attaching, None, actor).await,
            Request::Rotate(asked) => self.rotate(asked, actor).await,
            Request::Recover(asked) => self.recover(asked).await,
            Request::ForgetScript(script) => self.forget_script(script, actor).await,
            Request::Dismiss(event) => self.dismiss(event, actor).await,
            Request::DismissOrphan(intent, why) => self.dismiss_orphan((intent, why), actor).await,
            Request::Link(key) => Ok(Reply::Link(self.visit(key).await?.map(Link))),
        }
    }
}

#[cfg(test)]
pub(crate) mod testing;

#[cfg(test)]
mod tests;
