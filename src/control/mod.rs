//! The requests of people and programs, independent of their transport.
//!
//! The socket, HTTP and the command line all reach the engine through [`Control`], so an answer
//! does not depend on its transport. A transport adds the actor and the encoding, and decides
//! nothing.

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

/// A request: one JSON object, such as `{"ask":"plan"}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Answers a question from the engine's state.
    Ask(Question),
    /// Approves exactly this live authorisation.
    Approve(Box<LiveBinding>),
    /// Performs a change that no document describes.
    Act(Box<Action>),
    /// Settles an intent as a person decides.
    Resolve(IntentId, Said),
    /// Approves the plan of this checksum; the transport supplies the actor.
    ApprovePlan(Box<ApprovingPlan>),
    /// Allows removals.
    Allow(Allowing),
    /// Answers the plan after the content of every file was read again: `"verify"`.
    Verify,
    /// Answers the plan after a full sweep of the service: `"refresh"`.
    Refresh,
    /// Answers the portal link of this invoice: a secret.
    Link(Key),
    /// Suspends or resumes a resource.
    Pause(Box<Pause>),
    /// Records what was sent for these resources since the backup, or that nothing was; no
    /// resources: for any.
    Release(Releasing),
    /// Answers from the local data beside the engine.
    Look(Box<Look>),
    /// Imports an object of the service for a document.
    Import(Box<Adopting>),
    /// Lists a merchant's objects.
    Inventory(Inventory),
    /// Answers the service's response to a read.
    Show(Box<Showing>),
    /// Reads the tree again and imports these objects, one after the other.
    ImportAll(Vec<Adopting>),
    /// Runs the hooks of this event again that failed for good.
    Replay(String),
    /// Forgets a resource, or an object that carries a mark of ours.
    Forget(Forgetting),
    /// Submits a one-time token for a saved method.
    Attach(Attaching),
    /// Rotates addresses that the service was given.
    Rotate(Rotating),
    /// Reads lists of events again.
    Recover(Recovering),
    /// Acknowledges the failed hooks of this event.
    Dismiss(String),
    /// Acknowledges the object that an intent may have created twice, for this reason.
    DismissOrphan(IntentId, String),
    /// Forgets an absent script.
    ForgetScript(String),
    /// Compacts the state.
    Compact {
        /// True if the history is dropped.
        drop_history: bool,
    },
    /// Changes the state's key; only over the socket of the daemon's own machine.
    Rekey {
        /// File of the new key on that machine; `None`: the daemon makes one.
        new_key_file: Option<PathBuf>,
    },
}

/// The response: `{"Ok": …}` or `{"Err": {code, message, help}}`.
pub type Response = Result<Reply, ControlError>;

/// The reason why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ControlError {
    /// Machine-readable code: one of the constants of this type.
    pub code: String,
    /// Message for people.
    pub message: String,
    /// Remedy: the action or the command.
    pub help: String,
}

impl ControlError {
    /// The engine ended before it answered.
    pub const STOPPED: &str = "engine_stopped";
    /// The request cannot be read.
    pub const BAD_REQUEST: &str = "bad_request";
    /// The request exceeds the size limit.
    pub const TOO_LONG: &str = "request_too_long";
    /// Too many clients ask at once.
    pub const BUSY: &str = "too_many_connections";
    /// The peer has no permission.
    pub const NOT_ALLOWED: &str = "not_allowed";
    /// The connection broke before the answer.
    pub const LOST: &str = "connection_lost";
    /// There is a socket, but it cannot be used.
    pub const UNUSABLE: &str = "socket_unusable";

    /// Builds an error with one of the codes above.
    pub fn new(code: &str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), help: help.into() }
    }

    /// Builds the error of an engine that ended, or is about to.
    fn stopped() -> Self {
        Self::new(
            Self::STOPPED,
            "the engine stopped before it answered",
            "look at the daemon's log, start it again and ask again",
        )
    }
}

/// Handle of the engine. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Control {
    engine: mpsc::Sender<Event>,
    desk: Arc<OnceLock<Arc<dyn Desk>>>,
    inbox: Arc<OnceLock<Inbox>>,
    posts: Arc<Posts>,
}

impl Control {
    /// Builds a handle that sends to this channel.
    pub fn new(engine: mpsc::Sender<Event>) -> Self {
        Self { engine, desk: Arc::default(), inbox: Arc::default(), posts: Arc::default() }
    }

    /// Asks a question and waits for the answer without a time limit.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn ask(&self, question: Question) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = Event::Ask(question, reply);
        self.engine.send(event).await.map_err(|_| ControlError::stopped())?;
        answer.await.map_err(|_| ControlError::stopped())
    }

    /// Returns the plan after the content of every file was read again.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn verify(&self) -> Response {
        let (reply, answer) = oneshot::channel();
        self.engine.send(Event::Verify(reply)).await.map_err(|_| ControlError::stopped())?;
        answer.await.map_err(|_| ControlError::stopped())
    }

    /// Returns the plan after a full sweep of the service.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn refresh(&self) -> Response {
        let (reply, answer) = oneshot::channel();
        self.engine.send(Event::Refresh(reply)).await.map_err(|_| ControlError::stopped())?;
        answer.await.map_err(|_| ControlError::stopped())
    }

    /// Submits a partner webhook of the service; returns once it is on disk.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn notify(&self, notice: Notice) -> Result<(), ControlError> {
        let (stored, answer) = oneshot::channel();
        let event = Event::Notice(notice, stored);
        self.engine.send(event).await.map_err(|_| ControlError::stopped())?;
        answer.await.map_err(|_| ControlError::stopped())
    }

    /// Sets the receiver of merchants' events.
    pub fn receive(&self, inbox: Inbox) {
        // Only the first call has an effect: a second receiver would belong to another state.
        drop(self.inbox.set(inbox));
    }

    /// Submits the body posted to the address of a merchant's events; returns once it is on disk.
    ///
    /// # Errors
    /// The state is not open yet, or failed.
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

    /// Returns the page that an applicant may open, or the portal link of an invoice.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn visit(&self, key: Key) -> Result<Page, ControlError> {
        let (page, answer) = oneshot::channel();
        let event = Event::Visit(key, page);
        self.engine.send(event).await.map_err(|_| ControlError::stopped())?;
        answer.await.map_err(|_| ControlError::stopped())
    }

    /// Approves a live authorisation in the name of this actor.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn approve(&self, binding: LiveBinding, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = Event::Approve(Approving { binding, actor }, reply);
        self.hears(event, answer).await
    }

    /// Performs an action in the name of this actor.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn act(&self, action: Action, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = Event::Act(Asked { action, actor }, reply);
        self.hears(event, answer).await
    }

    /// Settles an intent as this actor decides.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn resolve(&self, id: IntentId, said: Said, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = Event::Resolve(Resolving { id, said, actor }, reply);
        self.hears(event, answer).await
    }

    /// Approves the plan in the name of this actor.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn approve_plan(&self, plan: ApprovingPlan, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = Event::ApprovePlan(ApprovingPlan { actor, ..plan }, reply);
        self.engine.send(event).await.map_err(|_| ControlError::stopped())?;
        answer.await.map_err(|_| ControlError::stopped())
    }

    /// Suspends or resumes a resource in the name of this actor.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn pause(&self, pause: Pause, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = Event::Pause(pause, actor, reply);
        self.engine.send(event).await.map_err(|_| ControlError::stopped())?;
        answer.await.map_err(|_| ControlError::stopped())
    }

    /// Allows removals in the name of this actor.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn allow(&self, allowing: Allowing, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = Event::Allow(allowing, actor, reply);
        self.engine.send(event).await.map_err(|_| ControlError::stopped())?;
        answer.await.map_err(|_| ControlError::stopped())
    }

    /// Records, in the name of this actor, what was sent for these resources since the backup, or
    /// that nothing was.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn release(&self, said: Releasing, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = Event::Release(said, actor, reply);
        self.engine.send(event).await.map_err(|_| ControlError::stopped())?;
        answer.await.map_err(|_| ControlError::stopped())
    }

    /// Sends an event and waits for its answer.
    ///
    /// # Errors
    /// The engine ended.
    async fn hears(&self, event: Event, answer: oneshot::Receiver<Reply>) -> Response {
        self.engine.send(event).await.map_err(|_| ControlError::stopped())?;
        answer.await.map_err(|_| ControlError::stopped())
    }

    /// Handles a request in the name of this actor.
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
