//! Requests about stored data: forget, compact, change the key.

use std::path::PathBuf;

use tokio::sync::oneshot;

use crate::control::protocol::{Control, Response};
use crate::engine::core::input::EngineInput;
use crate::model::state::adoption::ForgetRequest;

impl Control {
    /// Forgets a resource or an object in the name of this actor.
    ///
    /// # Errors
    /// The engine ended.
    pub(crate) async fn forget(&self, what: ForgetRequest, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        self.send_and_wait(EngineInput::Forget(what, actor, reply), answer).await
    }

    /// Compacts the state in the name of this actor, with or without its history.
    ///
    /// # Errors
    /// The engine ended.
    pub(crate) async fn compact(&self, drop_history: bool, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        self.send_and_wait(EngineInput::Compact(drop_history, actor, reply), answer).await
    }

    /// Changes the state's key in the name of this actor.
    ///
    /// # Errors
    /// The engine ended.
    pub(crate) async fn rekey(&self, new_key_file: Option<PathBuf>, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        self.send_and_wait(EngineInput::Rekey(new_key_file, actor, reply), answer).await
    }
}
