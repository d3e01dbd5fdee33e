//! The handle of the engine: the way of every request to it.
//!
//! The socket, HTTP and the command line all reach the engine through [`Control`], so an answer
//! does not depend on its transport.

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use chrono::{DateTime, Utc};
use parking_lot::{Mutex, RwLock};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::mpsc::error::SendError;
use tokio::sync::{mpsc, oneshot};

use crate::base::clock::{SystemClock, timestamp};
use crate::base::id::{Key, Mode};
use crate::control::page_sessions::PageSessions;
use crate::control::posts::Posts;
use crate::control::protocol::{ControlError, ControlRequest, LocalQuery, Response};
use crate::control::requests::{self, Request, typed};
use crate::engine::events::receiver::{EventReceiver, Receipt};
use crate::engine::handles::feed::EngineFeed;
use crate::engine::protocol::actions::ActionCommand;
use crate::engine::protocol::input::{
    EngineCommand, EngineInput, IncomingWebhook, PayerRequest, ResyncRequest,
};
use crate::engine::protocol::payers::{
    AttachToken, Intake, IntakeLink, PageLink, SecretLink, SubmitToken,
};
use crate::engine::protocol::query::{Query, Reply, ResourceQuery};
use crate::model::operator::WebhookAddress;
use crate::model::state::drift::{AdoptRequest, AdoptionReport, AdoptionStatus};

/// Largest number of retries of an import while something is under way.
const IMPORT_TRIES_MAX: u32 = 200;
const IMPORT_PAUSE: Duration = Duration::from_millis(25);

/// The configuration of a daemon: a part of `/api/v1/status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConfigurationView {
    /// Time since which the present one is in use.
    pub loaded: String,
    /// A newer one that is not used, since it has a problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusedConfiguration>,
}

/// A configuration that the daemon read and does not use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RefusedConfiguration {
    pub at: String,
    /// The problem, with its place in the file.
    pub problem: String,
}

/// A source of answers to local queries.
pub trait LocalQueries: fmt::Debug + Send + Sync {
    /// Answers a query. It may block: it is called on a thread where blocking delays no other work.
    fn local_query(&self, query: LocalQuery) -> Response;
}

/// Handle of the engine. Cheap to clone. Its calls fail once the engine has ended.
#[derive(Debug, Clone)]
pub struct Control {
    /// The way to the present engine, shared by the handles of all engines over one state.
    engine: Arc<RwLock<mpsc::Sender<EngineInput>>>,
    local: Arc<RwLock<Option<Arc<dyn LocalQueries>>>>,
    inbox: Arc<RwLock<Option<Arc<EventReceiver>>>>,
    feed: Arc<OnceLock<EngineFeed>>,
    posts: Arc<Posts>,
    page: Arc<PageSessions>,
    configuration: Arc<Mutex<Option<ConfigurationView>>>,
}

impl Control {
    pub fn new(engine: mpsc::Sender<EngineInput>) -> Self {
        Self {
            engine: Arc::new(RwLock::new(engine)),
            local: Arc::default(),
            inbox: Arc::default(),
            feed: Arc::default(),
            posts: Arc::default(),
            page: Arc::new(PageSessions::new(Arc::new(SystemClock))),
            configuration: Arc::default(),
        }
    }

    /// Builds a handle of the next engine over the same state, which goes on counting. Until that
    /// engine has its own ([`Self::use_engine`], [`Self::receive`], [`Self::set_local_queries`]), the
    /// present one answers and stores posts. Sessions of the page end: the configuration or the tokens
    /// may be others.
    #[must_use]
    pub fn of_next_engine(&self) -> Self {
        let inbox = Arc::new(RwLock::new(self.inbox.read().clone()));
        let local = Arc::new(RwLock::new(self.local.read().clone()));
        let page = Arc::new(PageSessions::new(Arc::new(SystemClock)));
        Self { local, inbox, feed: Arc::default(), page, ..self.clone() }
    }

    /// Sends every request to this engine from now on, also those of the handles before this one.
    pub fn use_engine(&self, engine: mpsc::Sender<EngineInput>) {
        *self.engine.write() = engine;
    }

    /// Returns the configuration in use; `None` in a process that does not reload it.
    pub fn configuration(&self) -> Option<ConfigurationView> {
        self.configuration.lock().clone()
    }

    /// Notes that a configuration is in use from now on.
    pub fn configuration_loaded(&self, at: DateTime<Utc>) {
        let loaded = timestamp(&at);
        *self.configuration.lock() = Some(ConfigurationView { loaded, refused: None });
    }

    /// Notes that a newer configuration has a problem, and the one before it stays in use.
    pub fn configuration_refused(&self, at: DateTime<Utc>, problem: String) {
        if let Some(view) = self.configuration.lock().as_mut() {
            view.refused = Some(RefusedConfiguration { at: timestamp(&at), problem });
        }
    }

    /// Sends a query and waits for the answer without a time limit.
    pub async fn ask<Q: Query>(&self, query: Q) -> Result<Q::Answer, ControlError> {
        let query = query.into_query();
        typed::<Q>(self.call(|reply| EngineInput::Ask(query, reply)).await?)
    }

    /// Sends a request in the name of this actor, and waits for the response without a time limit.
    pub async fn send<R: Request>(
        &self,
        request: R,
        actor: String,
    ) -> Result<R::Response, ControlError> {
        typed::<R>(self.reply(request.into_request(), actor).await?)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "`engine_command` names every other one")]
    async fn reply(&self, request: ControlRequest, actor: String) -> Response {
        use EngineInput as Input;
        let (reply, answer) = oneshot::channel();
        let input = match request {
            ControlRequest::Local(query) => return self.local_query(*query).await,
            ControlRequest::ImportAll(all) => return self.import_all(all, &actor).await,
            ControlRequest::Link(key) => {
                return Ok(Reply::Link(self.visit(key).await?.map(SecretLink)));
            }
            ControlRequest::EnterPage => return self.page.link_reply(actor),
            ControlRequest::Ask(query) => Input::Ask(query, reply),
            ControlRequest::Act(action) => {
                Input::Act(ActionCommand { action: *action, actor }, reply)
            }
            ControlRequest::Verify => Input::Verify(reply),
            ControlRequest::Refresh => Input::Refresh(reply),
            ControlRequest::Retry(key) => Input::Retry(key, reply),
            ControlRequest::Compact { drop_history } => Input::Compact(drop_history, actor, reply),
            ControlRequest::Rekey { new_key_file } => Input::Rekey(new_key_file, actor, reply),
            ControlRequest::ResyncEvents(asked) => {
                Input::ResyncEvents(ResyncRequest { asked, done: Vec::new() }, reply)
            }
            request => Input::Command(requests::engine_command(request, actor)?, reply),
        };
        self.pass_on(input).await?;
        answer.await.map_err(|_| ControlError::engine_stopped())
    }

    /// Sends an input to the present engine. One that takes no more gives the input back; it goes to
    /// the next engine then.
    async fn pass_on(&self, mut input: EngineInput) -> Result<(), ControlError> {
        loop {
            let engine = self.engine.read().clone();
            let Err(SendError(returned)) = engine.send(input).await else { return Ok(()) };
            if engine.same_channel(&self.engine.read()) {
                return Err(ControlError::engine_stopped());
            }
            input = returned;
        }
    }

    /// Sends an input with a channel for its answer, and waits for the answer.
    pub(crate) async fn call<T>(
        &self,
        input: impl FnOnce(oneshot::Sender<T>) -> EngineInput,
    ) -> Result<T, ControlError> {
        let (reply, answer) = oneshot::channel();
        self.pass_on(input(reply)).await?;
        answer.await.map_err(|_| ControlError::engine_stopped())
    }

    /// Starts a read of the whole tree, and does not wait for its consequences.
    pub async fn reconcile(&self) -> Result<(), ControlError> {
        self.pass_on(EngineInput::Files(Vec::new())).await
    }

    /// Sets the source of answers to local queries, in the place of the last engine's.
    pub fn set_local_queries(&self, local: Arc<dyn LocalQueries>) {
        *self.local.write() = Some(local);
    }

    /// Sets what the engine publishes while it runs; only the first call has an effect.
    pub fn set_feed(&self, feed: EngineFeed) {
        self.feed.get_or_init(|| feed);
    }

    /// Returns what the engine publishes while it runs; `None` while the daemon is starting.
    pub fn feed(&self) -> Option<&EngineFeed> {
        self.feed.get()
    }

    async fn local_query(&self, query: LocalQuery) -> Response {
        let Some(local) = self.local.read().clone() else {
            let message = "the daemon is starting and cannot answer this yet";
            return Err(ControlError::new(ControlError::BUSY, message, "try again in a moment"));
        };
        let answered = tokio::task::spawn_blocking(move || local.local_query(query)).await;
        answered.unwrap_or_else(|_| Err(ControlError::bug("the query ended without an answer")))
    }

    /// Reads the tree again, then imports these objects, one after the other. Each import is a
    /// record of its own, so an interrupted request can simply be repeated.
    async fn import_all(&self, all: Vec<AdoptRequest>, actor: &str) -> Response {
        self.call(EngineInput::Verify).await?;
        let mut done = Vec::with_capacity(all.len());
        for request in all {
            done.push(self.import_patiently(request, actor).await?);
        }
        Ok(Reply::AllImported(done))
    }

    /// Imports one object; waits while something is under way for its merchant.
    async fn import_patiently(
        &self,
        request: AdoptRequest,
        actor: &str,
    ) -> Result<AdoptionReport, ControlError> {
        let mut tries: u32 = 0;
        loop {
            let (request, actor) = (request.clone(), actor.to_owned());
            let reply = self
                .call(|reply| EngineInput::Command(EngineCommand::Import(request, actor), reply))
                .await?;
            let report = typed::<requests::Import>(reply)?;
            if report.status != AdoptionStatus::Busy || tries >= IMPORT_TRIES_MAX {
                return Ok(report);
            }
            tries = tries.saturating_add(1);
            tokio::time::sleep(IMPORT_PAUSE).await;
        }
    }
}

/// The public addresses: the service's posts, applicants and payers.
impl Control {
    /// Sets the receiver of posts, in the place of one for the same state.
    pub fn receive(&self, inbox: EventReceiver) {
        *self.inbox.write() = Some(Arc::new(inbox));
    }

    /// Submits a partner webhook of the service; returns once it is on disk.
    pub async fn partner_webhook(&self, notice: IncomingWebhook) -> Result<(), ControlError> {
        self.call(|stored| EngineInput::PartnerWebhook(notice, stored)).await
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
        let posted = self.receiver()?.post(merchant, mode, body).await;
        posted.map_err(|error| logged(&error, "a webhook could not be stored"))
    }

    /// Returns true if an address of this generation is valid; `None` before the state is open.
    pub fn is_address_valid(
        &self,
        address: &WebhookAddress,
        generation: u32,
    ) -> Result<Option<bool>, ControlError> {
        let Some(inbox) = self.inbox.read().clone() else { return Ok(None) };
        let valid = inbox.accepts_address(address, generation);
        valid.map(Some).map_err(|error| logged(&error, "cannot read the valid webhook addresses"))
    }

    /// Returns true if the events of this merchant are accepted.
    ///
    /// # Errors
    /// The state is not open yet, or cannot be read.
    pub fn accepts_events_of(&self, merchant: &Key) -> Result<bool, ControlError> {
        let accepts = self.receiver()?.accepts_events_of(merchant);
        accepts.map_err(|error| logged(&error, "cannot read a merchant"))
    }

    fn receiver(&self) -> Result<Arc<EventReceiver>, ControlError> {
        self.inbox.read().clone().ok_or_else(ControlError::engine_stopped)
    }

    /// Returns the only one of these resources that exists; `None` if none or several do.
    pub async fn only_existing(&self, named: &[Key]) -> Result<Option<Key>, ControlError> {
        let mut found = Vec::new();
        for key in named {
            if self.ask(ResourceQuery(key.clone())).await?.is_some() {
                found.push(key.clone());
            }
        }
        Ok(found.pop().filter(|_| found.is_empty()))
    }

    /// Returns the page that an applicant may open, or the portal link of an invoice.
    pub async fn visit(&self, key: Key) -> Result<PageLink, ControlError> {
        self.call(|page| EngineInput::Visit(key, page)).await
    }

    /// Returns the state of a payer's link; changes nothing.
    pub async fn intake(&self, link: IntakeLink) -> Result<Intake, ControlError> {
        self.call(|reply| EngineInput::Payer(PayerRequest::Open(link, reply))).await
    }

    /// Submits a token that came through a payer's link. Returns the saved method once the token
    /// is on disk, or the reason of its refusal.
    pub async fn submit_token(
        &self,
        attaching: AttachToken,
        link: IntakeLink,
        actor: String,
    ) -> Result<Result<Key, String>, ControlError> {
        let token = SubmitToken { attaching, link: Some(link), actor };
        let submit = |reply| EngineInput::Payer(PayerRequest::Submit(token, reply));
        typed::<requests::Attach>(self.call(submit).await?)
    }

    /// Returns the links and sessions of the daemon's page.
    pub fn page(&self) -> &PageSessions {
        &self.page
    }

    pub fn posts(&self) -> &Posts {
        &self.posts
    }
}

fn logged(error: &dyn fmt::Display, what: &str) -> ControlError {
    tracing::error!(%error, "{what}");
    ControlError::engine_stopped()
}
