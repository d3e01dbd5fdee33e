//! Requests of people beside their changes of files. If the engine did not answer, they ask again
//! in its next life.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::command::{Command, Notebook};
use super::desk::Desk;
use super::payer::Payment;
use super::script::Step;
use crate::engine::Event;

/// One request to the running engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// Reads everything that the service shows.
    Refresh,
    Command(Command),
    /// Makes a payment that the engine learns from events alone.
    Pay(Payment),
}

/// Handles that people use.
#[derive(Clone)]
pub(super) struct Hands {
    /// Engine of the current life.
    pub(super) engine: mpsc::Sender<Event>,
    pub(super) desk: Desk,
    pub(super) notebook: Notebook,
}

impl Deed {
    /// Makes the request. Returns `None` if the engine did not answer.
    async fn done(&self, hands: &Hands) -> Option<()> {
        match self {
            Self::Refresh => {
                let (reply, answer) = oneshot::channel();
                hands.engine.send(Event::Refresh(reply)).await.ok()?;
                answer.await.ok().map(drop)
            }
            Self::Command(command) => command.done(hands).await,
            Self::Pay(payment) => {
                hands.desk.payers.pay(&hands.desk, payment).await;
                Some(())
            }
        }
    }
}

impl fmt::Display for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refresh => f.write_str("look at everything"),
            Self::Command(command) => write!(f, "{command}"),
            Self::Pay(payment) => write!(f, "{payment}"),
        }
    }
}

/// Requests of a script that were answered, by step and index in the step. Clones share the set.
#[derive(Debug, Clone, Default)]
pub(super) struct Answered(Arc<Mutex<BTreeSet<(usize, usize)>>>);

impl Answered {
    fn has(&self, deed: (usize, usize)) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&deed)
    }

    fn note(&self, deed: (usize, usize)) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(deed);
    }
}

/// Starts every unanswered request of a step, each in a task of its own.
pub(super) fn begin(
    nth: usize,
    step: &Step,
    answered: &Answered,
    hands: &Hands,
    under_way: &mut JoinSet<()>,
) {
    for (place, deed) in step.deeds.iter().cloned().enumerate() {
        if answered.has((nth, place)) {
            continue;
        }
        let (answered, hands) = (answered.clone(), hands.clone());
        under_way.spawn(async move {
            if deed.done(&hands).await.is_some() {
                answered.note((nth, place));
            }
        });
    }
}
