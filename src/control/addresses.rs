//! The addresses at which the service tells us things: whether one is good, and their exchange.

use tokio::sync::oneshot;

use super::{Control, ControlError, Response};
use crate::engine::Event;
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

    /// Has addresses exchanged in the name of this actor. Errors: the engine ended.
    pub async fn rotate(&self, asked: Rotating, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        self.hears(Event::Rotate(asked, actor, reply), answer).await
    }
}
