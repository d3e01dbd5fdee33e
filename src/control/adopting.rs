//! Taking several objects over, one after the other: each is a record of its own, so that what ended halfway is
//! simply said once more.

use std::time::Duration;

use tokio::sync::oneshot;

use super::{Control, ControlError, Response};
use crate::engine::{Event, Reply};
use crate::model::adoption::{Adopted, Adopting, Taken};

/// So often something that is under way is waited for.
const TRIES_MAX: u32 = 200;
/// Each time so long.
const WAIT: Duration = Duration::from_millis(25);

impl Control {
    /// Looks at the tree again, then takes these over. Errors: the engine ended.
    pub(super) async fn import_all(&self, all: Vec<Adopting>, actor: &str) -> Response {
        self.verify().await?;
        let mut told = Vec::with_capacity(all.len());
        for asked in all {
            told.push(self.import_patiently(asked, actor).await?);
        }
        Ok(Reply::AllAdopted(told))
    }

    /// Takes one over; what is under way for its merchant is waited for.
    async fn import_patiently(
        &self,
        asked: Adopting,
        actor: &str,
    ) -> Result<Adopted, ControlError> {
        let mut tries: u32 = 0;
        loop {
            let (reply, answer) = oneshot::channel();
            let event = Event::Import(asked.clone(), actor.to_owned(), reply);
            let Reply::Adopted(adopted) = self.hears(event, answer).await? else {
                return Err(ControlError::stopped());
            };
            if adopted.stands != Taken::Busy || tries >= TRIES_MAX {
                return Ok(*adopted);
            }
            tries = tries.saturating_add(1);
            tokio::time::sleep(WAIT).await;
        }
    }
}
