//! Changes the state's key beside all other work, at a person's request.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::oneshot;

use super::compaction::spawn_blocking_task;
use super::coordinator::Engine;
use crate::engine::queries::protocol::Reply;
use crate::store::state::rekey::{RekeyRequest, Rekeyer};

impl Engine {
    /// Sets the means to change the state's key.
    pub fn rekey_with(&mut self, rekeyer: Arc<Rekeyer>) {
        self.rekeyer = Some(rekeyer);
    }

    /// Changes the key because a person asks for it.
    pub(crate) fn rekey(
        &self,
        new_key_file: Option<PathBuf>,
        actor: String,
        reply: oneshot::Sender<Reply>,
    ) {
        let Some(rekeyer) = self.rekeyer.clone() else {
            let why = "this process cannot exchange the key of its state".to_owned();
            return drop(reply.send(Reply::Rekeyed(Err(why))));
        };
        let wanted = RekeyRequest { new_key_file, at: self.shared.now(), actor };
        spawn_blocking_task(async move {
            let done = rekeyer.rekey(&wanted).await;
            match &done {
                Ok(done) => tracing::info!(
                    generation = done.generation,
                    actor = done.actor,
                    "the key of the state was exchanged"
                ),
                Err(error) => {
                    tracing::error!(%error, "cannot exchange the key of the state");
                }
            }
            // The asker may have gone away.
            drop(reply.send(Reply::Rekeyed(done.map_err(|why| why.to_string()))));
        });
    }
}
