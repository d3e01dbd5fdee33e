//! What people do about the door for events: which addresses are good, what is read again, what they have seen.

use tokio::sync::oneshot;

use super::{Control, ControlError, Posts, Response};
use crate::engine::{Event, Recovering};
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

    /// The counts of what was posted.
    pub fn posts(&self) -> &Posts {
        &self.posts
    }

    /// Has addresses exchanged in the name of this actor. Errors: the engine ended.
    pub async fn rotate(&self, asked: Rotating, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        self.hears(Event::Rotate(asked, actor, reply), answer).await
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
}
