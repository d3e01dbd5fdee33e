//! A person's command that changes the service: an action becomes an effect, and the effect an
//! intent like any other. One name performs one thing, once; a repeated request only answers its
//! state.

use crate::model::action::Action;

/// An action on its way to the engine.
#[derive(Debug)]
pub struct ActionCommand {
    pub action: Action,
    pub actor: String,
}
