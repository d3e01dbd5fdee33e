//! What people do beside changing files: they ask the running process for something, and ask again in its next
//! life if nobody answered.

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

/// One thing that somebody asks of the running process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// A look at everything that the service shows.
    Refresh,
    /// A command.
    Command(Command),
    /// A payment of which the process hears by events alone.
    Pay(Payment),
}

/// What people have at hand.
#[derive(Clone)]
pub(super) struct Hands {
    /// The process, as long as it lives.
    pub(super) engine: mpsc::Sender<Event>,
    /// The service's own desk.
    pub(super) desk: Desk,
    /// What they wrote down.
    pub(super) notebook: Notebook,
}

impl Deed {
    /// Does it; `None` if nobody answered.
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

/// The deeds of a script, by step and place in it, that were answered; clones share them.
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

/// Begins every deed of a step that nobody answered yet; they go on beside everything else.
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
