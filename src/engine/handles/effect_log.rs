//! Reports effects once their records are durable: to the log, and to a listener.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;

use crate::engine::protocol::queries::effect_log::EffectReport;

/// Number of the newest effects that are kept for clients of a daemon.
pub(crate) const KEPT_MAX: usize = 10_000;

/// The newest effects, and the listener for further ones.
#[derive(Debug, Default)]
pub(crate) struct EffectLog(Mutex<EffectLogState>);

#[derive(Debug, Default)]
pub(crate) struct EffectLogState {
    kept: VecDeque<EffectReport>,
    listener: Option<mpsc::UnboundedSender<EffectReport>>,
}

impl EffectLog {
    fn inner(&self) -> MutexGuard<'_, EffectLogState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends effects to a listener from now on. A second listener replaces the first.
    pub(crate) fn subscribe(&self) -> mpsc::UnboundedReceiver<EffectReport> {
        let (told, effects) = mpsc::unbounded_channel();
        self.inner().listener = Some(told);
        effects
    }

    /// Ends the subscription: its receiver ends.
    pub(crate) fn unsubscribe(&self) {
        self.inner().listener = None;
    }

    pub(crate) fn push(&self, happened: EffectReport) {
        let mut inner = self.inner();
        if let Some(told) = &inner.listener {
            // The listener may have gone away.
            drop(told.send(happened.clone()));
        }
        if inner.kept.len() >= KEPT_MAX {
            inner.kept.pop_front();
        }
        inner.kept.push_back(happened);
    }

    pub(crate) fn since(&self, position: u64) -> Vec<EffectReport> {
        let inner = self.inner();
        inner.kept.iter().filter(|one| one.position > position).cloned().collect()
    }
}

#[cfg(test)]
mod tests;
