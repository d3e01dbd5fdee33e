//! Requests about the event receiver: valid addresses, re-read lists, acknowledged failures.

use tokio::sync::oneshot;

use crate::base::id::{IntentId, Key};
use crate::control::posts::Posts;
use crate::control::protocol::{Control, ControlError, Response};
use crate::engine::core::input::EngineInput;
use crate::engine::events::resync::ResyncEvents;
use crate::engine::queries::protocol::{EngineQuery, Reply};
use crate::model::operator::rotation::{RotationRequest, WebhookAddress};

impl Control {
    /// Returns true if an address of this generation is valid; `None` while the state is not open
    /// yet.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn is_address_valid(
        &self,
        address: &WebhookAddress,
        generation: u32,
    ) -> Result<Option<bool>, ControlError> {
        let Some(inbox) = self.inbox.get() else { return Ok(None) };
        let opens = inbox.is_address_valid(address, generation).map_err(|error| {
            tracing::error!(%error, "cannot read the valid webhook addresses");
            ControlError::engine_stopped()
        })?;
        Ok(Some(opens))
    }

    /// Returns true if the events of this merchant are accepted.
    ///
    /// # Errors
    /// The state is not open yet, or cannot be read.
    pub fn accepts_events_of(&self, merchant: &Key) -> Result<bool, ControlError> {
        let inbox = self.inbox.get().ok_or_else(ControlError::engine_stopped)?;
        inbox.accepts_events_of(merchant).map_err(|error| {
            tracing::error!(%error, "cannot read a merchant");
            ControlError::engine_stopped()
        })
    }

    /// Returns the only one of these resources that exists; `None` if none or several do.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn only_existing(&self, named: &[Key]) -> Result<Option<Key>, ControlError> {
        let mut found = Vec::new();
        for key in named {
            if let Reply::Resource(Some(_)) = self.ask(EngineQuery::Resource(key.clone())).await? {
                found.push(key.clone());
            }
        }
        Ok(found.pop().filter(|_| found.is_empty()))
    }

    /// Returns the counts of answered posts.
    pub fn posts(&self) -> &Posts {
        &self.posts
    }

    /// Rotates addresses in the name of this actor.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn rotate(&self, asked: RotationRequest, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        self.send_and_wait(EngineInput::Rotate(asked, actor, reply), answer).await
    }

    /// Runs the hooks of an event again in the name of this actor.
    ///
    /// # Errors
    /// The engine ended.
    pub(crate) async fn replay(&self, event: String, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        self.send_and_wait(EngineInput::Replay(event, actor, reply), answer).await
    }

    /// Reads lists of events again.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn recover(&self, asked: ResyncEvents) -> Response {
        let (reply, answer) = oneshot::channel();
        self.send_and_wait(EngineInput::ResyncEvents(asked, reply), answer).await
    }

    /// Acknowledges the failed hooks of an event in the name of this actor.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn dismiss(&self, event: String, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        self.send_and_wait(EngineInput::Dismiss(event, actor, reply), answer).await
    }

    /// Forgets an absent script in the name of this actor.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn forget_script(&self, script: String, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        self.send_and_wait(EngineInput::ForgetScript(script, actor, reply), answer).await
    }

    /// Acknowledges, in the name of this actor, the object that an intent may have created twice.
    ///
    /// # Errors
    /// The engine ended.
    pub(crate) async fn dismiss_orphan(&self, what: (IntentId, String), actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        self.send_and_wait(EngineInput::DismissOrphan(what, actor, reply), answer).await
    }
}
