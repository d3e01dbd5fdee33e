//! Requests of people beside their changes of files. If the engine did not answer, they ask again
//! in its next life.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::command::{Notebook, PersonCommand};
use super::payer::PayerPayment;
use super::sandbox_control::SandboxControl;
use crate::engine::core::input::EngineInput;
use crate::sim::world::script::ScriptStep;

/// One request to the running engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PersonRequest {
    /// Reads everything that the service shows.
    Refresh,
    Command(PersonCommand),
    /// Makes a payment that the engine learns from events alone.
    Pay(PayerPayment),
}

/// Handles that people use.
#[derive(Clone)]
pub(crate) struct PersonHandles {
    /// Engine of the current life.
    pub(crate) engine: mpsc::Sender<EngineInput>,
    pub(crate) desk: SandboxControl,
    pub(crate) notebook: Notebook,
}

impl PersonRequest {
    /// Makes the request. Returns `None` if the engine did not answer.
    async fn perform(&self, hands: &PersonHandles) -> Option<()> {
        match self {
            Self::Refresh => {
                let (reply, answer) = oneshot::channel();
                hands.engine.send(EngineInput::Refresh(reply)).await.ok()?;
                answer.await.ok().map(drop)
            }
            Self::Command(command) => command.run_to_end(hands).await,
            Self::Pay(payment) => {
                hands.desk.payers.pay(&hands.desk, payment).await;
                Some(())
            }
        }
    }
}

impl fmt::Display for PersonRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refresh => f.write_str("read everything at the service"),
            Self::Command(command) => write!(f, "{command}"),
            Self::Pay(payment) => write!(f, "{payment}"),
        }
    }
}

/// Requests of a script that were answered, by step and index in the step. Clones share the set.
#[derive(Debug, Clone, Default)]
pub(crate) struct AnsweredRequests(Arc<Mutex<BTreeSet<(usize, usize)>>>);

impl AnsweredRequests {
    fn contains(&self, deed: (usize, usize)) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&deed)
    }

    fn note(&self, deed: (usize, usize)) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(deed);
    }
}

/// Starts every unanswered request of a step, each in a task of its own.
pub(crate) fn start_requests(
    nth: usize,
    step: &ScriptStep,
    answered: &AnsweredRequests,
    hands: &PersonHandles,
    under_way: &mut JoinSet<()>,
) {
    for (place, deed) in step.requests.iter().cloned().enumerate() {
        if answered.contains((nth, place)) {
            continue;
        }
        let (answered, hands) = (answered.clone(), hands.clone());
        under_way.spawn(async move {
            if deed.perform(&hands).await.is_some() {
                answered.note((nth, place));
            }
        });
    }
}
