//! What people do about the door for events: which addresses are good, what is read again, what they have seen.

use tokio::sync::oneshot;

use super::{Control, ControlError, Posts, Response};
use crate::base::id::{IntentId, Key};
use crate::engine::{Event, Question, Recovering, Reply};
use crate::model::rotation::{Address, Rotating};

impl Control {
    /// Whether an address of this generation is good; `None` while the state is not open yet. Errors: the state
    /// cannot be read.
    pub fn opens(&self, address: &Address, generation: u32) -> Result<Option<bool>, ControlError> {
        let Some(inbox) = self.inbox.get() else { return Ok(None) };
        let opens = inbox.opens(address, generation).map_err(|error| {
            tracing::error!(%error, "which addresses are good cannot be read");
            ControlError::stopped()
        })?;
        Ok(Some(opens))
    }

    /// Whether the events of this merchant are taken in. Errors: the state is not open yet, or cannot be read.
    pub fn receives(&self, merchant: &Key) -> Result<bool, ControlError> {
        let inbox = self.inbox.get().ok_or_else(ControlError::stopped)?;
        inbox.receives(merchant).map_err(|error| {
            tracing::error!(%error, "a merchant cannot be read");
            ControlError::stopped()
        })
    }

    /// Of these resources the one that exists, `None` if none or several do. Errors: the engine ended.
    pub async fn only(&self, named: &[Key]) -> Result<Option<Key>, ControlError> {
        let mut found = Vec::new();
        for key in named {
            if let Reply::Resource(Some(_)) = self.ask(Question::Resource(key.clone())).await? {
                found.push(key.clone());
            }
        }
        Ok(found.pop().filter(|_| found.is_empty()))
    }

    /// The counts of what was posted.
    pub fn posts(&self) -> &Posts {
        &self.posts
    }

    /// Has addresses exchanged in the name of this actor. Errors: the engine ended.
    pub async fn rotate(&self, asked: Rotating, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        self.hears(Event::Rotate(asked, actor, reply), answer).await
    }

    /// Has the hooks of an event run again in the name of this actor. Errors: the engine ended.
    pub(super) async fn replay(&self, event: String, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        self.hears(Event::Replay(event, actor, reply), answer).await
    }

    /// Has lists of events read again. Errors: the engine ended.
    pub async fn recover(&self, asked: Recovering) -> Response {
        let (reply, answer) = oneshot::channel();
        self.hears(Event::Recover(asked, reply), answer).await
    }

    /// Has it written down that this actor has seen what became of the hooks of an event. Errors: the engine ended.
    pub async fn dismiss(&self, event: String, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        self.hears(Event::Dismiss(event, actor, reply), answer).await
    }

    /// Has an absent script let go in the name of this actor. Errors: the engine ended.
    pub async fn forget_script(&self, script: String, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        self.hears(Event::ForgetScript(script, actor, reply), answer).await
    }

    /// Has it written down that this actor has looked after what an intent made again. Errors: the engine ended.
    pub(super) async fn dismiss_orphan(&self, what: (IntentId, String), actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        self.hears(Event::DismissOrphan(what, actor, reply), answer).await
    }
}
