//! Effects and overviews as they happen, for every reader of a process.
//!
//! One command may follow all effects of its own process. Any number of watchers may follow, too:
//! they share one bounded channel, in which a slow watcher misses effects and learns their number.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{broadcast, mpsc, watch};

use crate::engine::protocol::actions::EffectReport;
use crate::engine::protocol::views::Overview;

/// Number of the newest effects that are kept for clients of a daemon.
pub(crate) const EFFECTS_KEPT_MAX: usize = 10_000;
/// Effects that wait for the slowest watcher, at most.
const EFFECTS_AHEAD_MAX: usize = 256;

/// The newest effects, and the channels of further ones.
#[derive(Debug)]
pub(crate) struct EffectLog {
    state: Mutex<EffectLogState>,
    watchers: broadcast::Sender<Arc<EffectReport>>,
}

#[derive(Debug, Default)]
pub(crate) struct EffectLogState {
    kept: VecDeque<EffectReport>,
    listener: Option<mpsc::UnboundedSender<EffectReport>>,
}

impl Default for EffectLog {
    fn default() -> Self {
        Self { state: Mutex::default(), watchers: broadcast::Sender::new(EFFECTS_AHEAD_MAX) }
    }
}

impl EffectLog {
    /// Sends effects to a listener from now on. A second listener replaces the first.
    pub(crate) fn subscribe(&self) -> mpsc::UnboundedReceiver<EffectReport> {
        let (told, effects) = mpsc::unbounded_channel();
        self.state.lock().listener = Some(told);
        effects
    }

    /// Ends the subscription: its receiver ends.
    pub(crate) fn unsubscribe(&self) {
        self.state.lock().listener = None;
    }

    pub(crate) fn push(&self, happened: EffectReport) {
        let mut inner = self.state.lock();
        if let Some(told) = &inner.listener {
            // The listener may have gone away.
            drop(told.send(happened.clone()));
        }
        if self.watchers.receiver_count() > 0 {
            // The last watcher may have gone away.
            drop(self.watchers.send(Arc::new(happened.clone())));
        }
        if inner.kept.len() >= EFFECTS_KEPT_MAX {
            inner.kept.pop_front();
        }
        inner.kept.push_back(happened);
    }

    pub(crate) fn since(&self, position: u64) -> Vec<EffectReport> {
        self.state.lock().since(position)
    }

    /// Returns the kept effects behind a position, and the channel of every later one.
    fn follow(&self, since: Option<u64>) -> FollowedEffects {
        let inner = self.state.lock();
        let missed = since.map(|since| inner.since(since)).unwrap_or_default();
        (missed.into(), self.watchers.subscribe())
    }
}

impl EffectLogState {
    fn since(&self, position: u64) -> Vec<EffectReport> {
        self.kept.iter().filter(|one| one.position > position).cloned().collect()
    }
}

/// Earlier effects, oldest first, and the channel of later ones.
type FollowedEffects = (VecDeque<EffectReport>, broadcast::Receiver<Arc<EffectReport>>);

/// The source of everything that an engine publishes while it runs. Cheap to clone.
#[derive(Debug, Clone)]
pub struct EngineFeed {
    pub(crate) overviews: watch::Receiver<Overview>,
    pub(crate) effects: Arc<EffectLog>,
}

impl EngineFeed {
    /// Returns the newest kept effects, newest first, `most` at most.
    pub fn newest_effects(&self, most: usize) -> Vec<EffectReport> {
        self.effects.state.lock().kept.iter().rev().take(most).cloned().collect()
    }

    /// Begins to follow. The present overview comes first, then the kept effects behind the record
    /// `since`, if it is given.
    pub fn follow(&self, since: Option<u64>) -> FollowedFeed {
        let mut overviews = self.overviews.clone();
        overviews.mark_changed();
        let (missed, effects) = self.effects.follow(since);
        FollowedFeed { overviews, missed, effects }
    }
}

/// One thing that an engine published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedEvent {
    Overview(Box<Overview>),
    Effect(Arc<EffectReport>),
    /// Effects that this reader was too slow for; the number of them.
    Lagged(u64),
}

/// One reader's place in the feed of an engine.
#[derive(Debug)]
pub struct FollowedFeed {
    overviews: watch::Receiver<Overview>,
    missed: VecDeque<EffectReport>,
    effects: broadcast::Receiver<Arc<EffectReport>>,
}

impl FollowedFeed {
    /// Waits for the next event; overviews only if `with_overview`. Returns `None` once the engine
    /// has ended. Overviews between two calls are one event: the newest.
    pub async fn next(&mut self, with_overview: bool) -> Option<FeedEvent> {
        if let Some(effect) = self.missed.pop_front() {
            return Some(FeedEvent::Effect(Arc::new(effect)));
        }
        tokio::select! {
            biased;
            effect = self.effects.recv() => match effect {
                Ok(effect) => Some(FeedEvent::Effect(effect)),
                Err(broadcast::error::RecvError::Lagged(count)) => Some(FeedEvent::Lagged(count)),
                Err(broadcast::error::RecvError::Closed) => None,
            },
            changed = self.overviews.changed(), if with_overview => {
                changed.ok()?;
                let now = self.overviews.borrow_and_update().clone();
                Some(FeedEvent::Overview(Box::new(now)))
            }
        }
    }
}

#[cfg(test)]
mod tests;
