//! How hooks stand: the scripts in use, what they asked for that is not settled, and what failed.

use serde::{Deserialize, Serialize};

use crate::base::clock::timestamp;
use crate::engine::shared::EngineError;
use crate::engine::{Engine, epoch};
use crate::model::ran::{FailedHook, Pending};

/// How hooks stand.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HooksView {
    /// The names of the scripts in use.
    pub scripts: Vec<String>,
    /// SHA-256 of the set in use; none: no good one was found yet.
    pub loaded: Option<String>,
    /// SHA-256 of the set in the folder.
    pub files: Option<String>,
    /// How much is wrong with that one; then an older one is in use.
    pub problems: usize,
    /// Actions that are not settled.
    pub waiting: Vec<WishView>,
    /// Hooks that failed and are run again.
    pub failed: Vec<FailedView>,
    /// Hooks that failed for good: a person has to look.
    pub dead: Vec<FailedView>,
}

/// An action that is not settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WishView {
    /// Whose event.
    pub merchant: String,
    /// The event.
    pub event: String,
    /// The action's name beneath it.
    pub name: String,
    /// What it does.
    pub verb: String,
    /// The script that asked for it.
    pub script: String,
    /// Not before then.
    pub at: Option<String>,
    /// Since when.
    pub since: String,
    /// Why it waits for a person, and what they can do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
}

/// A hook that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedView {
    /// Whose event.
    pub merchant: String,
    /// The event.
    pub event: String,
    /// The script.
    pub script: String,
    /// Why, with the place in the script.
    pub message: String,
    /// How often it was run.
    pub tries: u32,
    /// When it is run again.
    pub again: Option<String>,
}

impl Engine {
    /// How hooks stand.
    pub(super) fn hooks_view(&self) -> Result<HooksView, EngineError> {
        let failed = self.shared.facts.failed_hooks()?;
        let (again, dead): (Vec<_>, Vec<_>) =
            failed.iter().partition(|failed| failed.failed.again.is_some());
        let mut view = self.scripts_view();
        for pending in self.shared.facts.wishes()? {
            let held = epoch::unsure_action(&self.shared.facts, &pending)?;
            view.waiting.push(wish_view(&pending, held));
        }
        view.failed = again.into_iter().map(failed_view).collect();
        view.dead = dead.into_iter().map(failed_view).collect();
        Ok(view)
    }
}

fn wish_view(pending: &Pending, held: Option<String>) -> WishView {
    WishView {
        merchant: pending.id.merchant.short(),
        event: pending.id.event.clone(),
        name: pending.id.name.to_string(),
        verb: pending.wish.verb.clone(),
        script: pending.script.clone(),
        at: pending.wish.at.as_ref().map(timestamp),
        since: timestamp(&pending.at),
        held,
    }
}

fn failed_view(failed: &FailedHook) -> FailedView {
    FailedView {
        merchant: failed.merchant.short(),
        event: failed.event.clone(),
        script: failed.failed.script.clone(),
        message: failed.failed.message.clone(),
        tries: failed.failed.tries,
        again: failed.failed.again.as_ref().map(timestamp),
    }
}
