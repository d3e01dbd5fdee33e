//! The payer's page and the token that it produces.

use tokio::sync::oneshot;

use crate::control::protocol::{Control, ControlError, Response};
use crate::engine::commands::attach::{AttachToken, PayerRequest, SubmitToken};
use crate::engine::commands::intake::{Intake, IntakeLink};
use crate::engine::core::input::EngineInput;

impl Control {
    /// Returns the state of a payer's link; changes nothing.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn intake(&self, link: IntakeLink) -> Result<Intake, ControlError> {
        let (reply, answer) = oneshot::channel();
        let event = EngineInput::Payer(PayerRequest::Open(link, reply));
        self.engine.send(event).await.map_err(|_| ControlError::engine_stopped())?;
        answer.await.map_err(|_| ControlError::engine_stopped())
    }

    /// Submits a token in the name of this actor, through a payer's link or without one. Returns
    /// once the token is on disk, or with the reason of its refusal.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn attach(
        &self,
        attaching: AttachToken,
        link: Option<IntakeLink>,
        actor: String,
    ) -> Response {
        let (reply, answer) = oneshot::channel();
        let bringing = SubmitToken { attaching, link, actor };
        self.send_and_wait(EngineInput::Payer(PayerRequest::Submit(bringing, reply)), answer).await
    }
}
