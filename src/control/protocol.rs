//! The requests of people and programs, independent of their transport.
//!
//! The socket, HTTP and the command line all reach the engine through [`Control`], so an answer
//! does not depend on its transport. A transport adds the actor and the encoding, and decides
//! nothing.

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use super::local::{LocalQueries, LocalQuery};
use super::posts::Posts;
use crate::base::id::{IntentId, Key, Mode};
use crate::engine::commands::action::ActionCommand;
use crate::engine::commands::approve::ApproveLive;
use crate::engine::commands::attach::AttachToken;
use crate::engine::commands::bookkeeping::AllowPrune;
use crate::engine::commands::page_link::{PageLink, SecretLink};
use crate::engine::commands::plan_approval::ApprovingPlan;
use crate::engine::commands::resolve::{ManualResolution, ResolveIntent};
use crate::engine::core::input::EngineInput;
use crate::engine::events::partner_webhook::IncomingWebhook;
use crate::engine::events::receiver::{EventReceiver, Receipt};
use crate::engine::events::resync::ResyncEvents;
use crate::engine::queries::protocol::{EngineQuery, Reply};
use crate::model::operator::action::Action;
use crate::model::operator::live_binding::LiveBinding;
use crate::model::operator::remote_get::RemoteGet;
use crate::model::operator::rotation::RotationRequest;
use crate::model::operator::suspension::SuspensionRequest;
use crate::model::state::adoption::{AdoptRequest, ForgetRequest, InventoryRequest};
use crate::model::state::epoch::ReleaseRequest;

/// A request: one JSON object, such as `{"ask":"plan"}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlRequest {
    /// Answers a question from the engine's state.
    Ask(EngineQuery),
    /// Approves exactly this live authorisation.
    Approve(Box<LiveBinding>),
    /// Performs a change that no document describes.
    Act(Box<Action>),
    /// Settles an intent as a person decides.
    Resolve(IntentId, ManualResolution),
    /// Approves the plan of this checksum; the transport supplies the actor.
    ApprovePlan(Box<ApprovingPlan>),
    /// Allows removals.
    Allow(AllowPrune),
    /// Answers the plan after the content of every file was read again: `"verify"`.
    Verify,
    /// Answers the plan after a full sweep of the service: `"refresh"`.
    Refresh,
    /// Answers the portal link of this invoice: a secret.
    Link(Key),
    /// Suspends or resumes a resource.
    #[serde(rename = "pause")]
    Suspend(Box<SuspensionRequest>),
    /// Records what was sent for these resources since the backup, or that nothing was; no
    /// resources: for any.
    Release(ReleaseRequest),
    /// Answers from the local data beside the engine.
    #[serde(rename = "look")]
    Local(Box<LocalQuery>),
    /// Imports an object of the service for a document.
    Import(Box<AdoptRequest>),
    /// Lists a merchant's objects.
    Inventory(InventoryRequest),
    /// Answers the service's response to a read.
    #[serde(rename = "show")]
    RemoteGet(Box<RemoteGet>),
    /// Reads the tree again and imports these objects, one after the other.
    ImportAll(Vec<AdoptRequest>),
    /// Runs the hooks of this event again that failed for good.
    Replay(String),
    /// Forgets a resource, or an object that carries a mark of ours.
    Forget(ForgetRequest),
    /// Submits a one-time token for a saved method.
    Attach(AttachToken),
    /// Rotates addresses that the service was given.
    Rotate(RotationRequest),
    /// Reads lists of events again.
    #[serde(rename = "recover")]
    ResyncEvents(ResyncEvents),
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
    pub(crate) fn engine_stopped() -> Self {
        Self::new(
            Self::STOPPED,
            "the engine stopped before it answered",
            "check the daemon's log, restart it and repeat the command",
        )
    }
}

/// Handle of the engine. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Control {
    pub(crate) engine: mpsc::Sender<EngineInput>,
    pub(crate) desk: Arc<OnceLock<Arc<dyn LocalQueries>>>,
    pub(crate) inbox: Arc<OnceLock<EventReceiver>>,
    pub(crate) posts: Arc<Posts>,
}

impl Control {
    /// Builds a handle that sends to this channel.
    pub fn new(engine: mpsc::Sender<EngineInput>) -> Self {
        Self { engine, desk: Arc::default(), inbox: Arc::default(), posts: Arc::default() }
    }

    /// Asks a question and waits for the answer without a time limit.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn ask(&self, question: EngineQuery) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = EngineInput::Ask(question, reply);
        self.engine.send(event).await.map_err(|_| ControlError::engine_stopped())?;
        answer.await.map_err(|_| ControlError::engine_stopped())
    }

    /// Returns the plan after the content of every file was read again.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn verify(&self) -> Response {
        let (reply, answer) = oneshot::channel();
        self.engine
            .send(EngineInput::Verify(reply))
            .await
            .map_err(|_| ControlError::engine_stopped())?;
        answer.await.map_err(|_| ControlError::engine_stopped())
    }

    /// Returns the plan after a full sweep of the service.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn refresh(&self) -> Response {
        let (reply, answer) = oneshot::channel();
        self.engine
            .send(EngineInput::Refresh(reply))
            .await
            .map_err(|_| ControlError::engine_stopped())?;
        answer.await.map_err(|_| ControlError::engine_stopped())
    }

    /// Submits a partner webhook of the service; returns once it is on disk.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn partner_webhook(&self, notice: IncomingWebhook) -> Result<(), ControlError> {
        let (stored, answer) = oneshot::channel();
        let event = EngineInput::PartnerWebhook(notice, stored);
        self.engine.send(event).await.map_err(|_| ControlError::engine_stopped())?;
        answer.await.map_err(|_| ControlError::engine_stopped())
    }

    /// Sets the receiver of merchants' events.
    pub fn receive(&self, inbox: EventReceiver) {
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
    ) -> Result<Receipt, ControlError> {
        let inbox = self.inbox.get().ok_or_else(ControlError::engine_stopped)?;
        inbox.post(merchant, mode, body).await.map_err(|error| {
            tracing::error!(%error, "a webhook could not be stored");
            ControlError::engine_stopped()
        })
    }

    /// Returns the page that an applicant may open, or the portal link of an invoice.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn visit(&self, key: Key) -> Result<PageLink, ControlError> {
        let (page, answer) = oneshot::channel();
        let event = EngineInput::Visit(key, page);
        self.engine.send(event).await.map_err(|_| ControlError::engine_stopped())?;
        answer.await.map_err(|_| ControlError::engine_stopped())
    }

    /// Approves a live authorisation in the name of this actor.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn approve(&self, binding: LiveBinding, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = EngineInput::Approve(ApproveLive { binding, actor }, reply);
        self.send_and_wait(event, answer).await
    }

    /// Performs an action in the name of this actor.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn act(&self, action: Action, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = EngineInput::Act(ActionCommand { action, actor }, reply);
        self.send_and_wait(event, answer).await
    }

    /// Settles an intent as this actor decides.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn resolve(&self, id: IntentId, said: ManualResolution, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = EngineInput::Resolve(ResolveIntent { id, said, actor }, reply);
        self.send_and_wait(event, answer).await
    }

    /// Approves the plan in the name of this actor.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn approve_plan(&self, plan: ApprovingPlan, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = EngineInput::ApprovePlan(ApprovingPlan { actor, ..plan }, reply);
        self.engine.send(event).await.map_err(|_| ControlError::engine_stopped())?;
        answer.await.map_err(|_| ControlError::engine_stopped())
    }

    /// Suspends or resumes a resource in the name of this actor.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn suspend(&self, pause: SuspensionRequest, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = EngineInput::Suspend(pause, actor, reply);
        self.engine.send(event).await.map_err(|_| ControlError::engine_stopped())?;
        answer.await.map_err(|_| ControlError::engine_stopped())
    }

    /// Allows removals in the name of this actor.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn allow(&self, allowing: AllowPrune, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = EngineInput::Allow(allowing, actor, reply);
        self.engine.send(event).await.map_err(|_| ControlError::engine_stopped())?;
        answer.await.map_err(|_| ControlError::engine_stopped())
    }

    /// Records, in the name of this actor, what was sent for these resources since the backup, or
    /// that nothing was.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn release(&self, said: ReleaseRequest, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        let event = EngineInput::Release(said, actor, reply);
        self.engine.send(event).await.map_err(|_| ControlError::engine_stopped())?;
        answer.await.map_err(|_| ControlError::engine_stopped())
    }

    /// Sends an event and waits for its answer.
    ///
    /// # Errors
    /// The engine ended.
    pub(crate) async fn send_and_wait(
        &self,
        event: EngineInput,
        answer: oneshot::Receiver<Reply>,
    ) -> Response {
        self.engine.send(event).await.map_err(|_| ControlError::engine_stopped())?;
        answer.await.map_err(|_| ControlError::engine_stopped())
    }

    /// Handles a request in the name of this actor.
    pub async fn handle(&self, request: ControlRequest, actor: String) -> Response {
        match request {
            ControlRequest::Ask(question) => self.ask(question).await,
            ControlRequest::Approve(binding) => self.approve(*binding, actor).await,
            ControlRequest::Act(action) => self.act(*action, actor).await,
            ControlRequest::Resolve(id, said) => self.resolve(id, said, actor).await,
            ControlRequest::ApprovePlan(plan) => self.approve_plan(*plan, actor).await,
            ControlRequest::Allow(allowing) => self.allow(allowing, actor).await,
            ControlRequest::Verify => self.verify().await,
            ControlRequest::Refresh => self.refresh().await,
            ControlRequest::Suspend(pause) => self.suspend(*pause, actor).await,
            ControlRequest::Release(said) => self.release(said, actor).await,
            ControlRequest::Local(look) => self.local_query(*look).await,
            ControlRequest::Import(asked) => {
                let (reply, answer) = oneshot::channel();
                self.send_and_wait(EngineInput::Import(*asked, actor, reply), answer).await
            }
            ControlRequest::RemoteGet(asked) => {
                let (reply, answer) = oneshot::channel();
                self.send_and_wait(EngineInput::RemoteGet(*asked, reply), answer).await
            }
            ControlRequest::Inventory(asked) => {
                let (reply, answer) = oneshot::channel();
                self.send_and_wait(EngineInput::Inventory(asked, reply), answer).await
            }
            ControlRequest::ImportAll(all) => self.import_all(all, &actor).await,
            ControlRequest::Replay(event) => self.replay(event, actor).await,
            ControlRequest::Forget(what) => self.forget(what, actor).await,
            ControlRequest::Compact { drop_history } => self.compact(drop_history, actor).await,
            ControlRequest::Rekey { new_key_file } => self.rekey(new_key_file, actor).await,
            ControlRequest::Attach(attaching) => self.attach(attaching, None, actor).await,
            ControlRequest::Rotate(asked) => self.rotate(asked, actor).await,
            ControlRequest::ResyncEvents(asked) => self.recover(asked).await,
            ControlRequest::ForgetScript(script) => self.forget_script(script, actor).await,
            ControlRequest::Dismiss(event) => self.dismiss(event, actor).await,
            ControlRequest::DismissOrphan(intent, why) => {
                self.dismiss_orphan((intent, why), actor).await
            }
            ControlRequest::Link(key) => Ok(Reply::Link(self.visit(key).await?.map(SecretLink))),
        }
    }
}
