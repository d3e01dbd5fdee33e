//! Imports several objects, one after the other. Each import is a record of its own, so an
//! interrupted request can simply be repeated.

use std::time::Duration;

use tokio::sync::oneshot;

use crate::control::protocol::{Control, ControlError, Response};
use crate::engine::core::input::EngineInput;
use crate::engine::queries::protocol::Reply;
use crate::model::state::adoption::{AdoptRequest, AdoptionReport, AdoptionStatus};

/// Largest number of retries while something is under way.
const TRIES_MAX: u32 = 200;
/// Pause between two retries.
const WAIT: Duration = Duration::from_millis(25);

impl Control {
    /// Reads the tree again, then imports these objects.
    ///
    /// # Errors
    /// The engine ended.
    pub(crate) async fn import_all(&self, all: Vec<AdoptRequest>, actor: &str) -> Response {
        self.verify().await?;
        let mut told = Vec::with_capacity(all.len());
        for asked in all {
            told.push(self.import_patiently(asked, actor).await?);
        }
        Ok(Reply::AllImported(told))
    }

    /// Imports one object; waits while something is under way for its merchant.
    async fn import_patiently(
        &self,
        asked: AdoptRequest,
        actor: &str,
    ) -> Result<AdoptionReport, ControlError> {
        let mut tries: u32 = 0;
        loop {
            let (reply, answer) = oneshot::channel();
            let event = EngineInput::Import(asked.clone(), actor.to_owned(), reply);
            let Reply::Imported(adopted) = self.send_and_wait(event, answer).await? else {
                return Err(ControlError::engine_stopped());
            };
            if adopted.status != AdoptionStatus::Busy || tries >= TRIES_MAX {
                return Ok(*adopted);
            }
            tries = tries.saturating_add(1);
            tokio::time::sleep(WAIT).await;
        }
    }
}
