//! Requests about what is kept: something is let go, the state is made smaller.

use std::path::PathBuf;

use tokio::sync::oneshot;

use super::{Control, Response};
use crate::engine::Event;
use crate::model::adoption::Forgetting;

impl Control {
    /// Has something let go in the name of this actor. Errors: the engine ended.
    pub(super) async fn forget(&self, what: Forgetting, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        self.hears(Event::Forget(what, actor, reply), answer).await
    }

    /// Has the state compacted in the name of this actor; its history is dropped or not. Errors: the engine ended.
    pub(super) async fn compact(&self, drop_history: bool, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        self.hears(Event::Compact(drop_history, actor, reply), answer).await
    }

    /// Has the key of the state exchanged in the name of this actor. Errors: the engine ended.
    pub(super) async fn rekey(&self, new_key_file: Option<PathBuf>, actor: String) -> Response {
        let (reply, answer) = oneshot::channel();
        self.hears(Event::Rekey(new_key_file, actor, reply), answer).await
    }
}
