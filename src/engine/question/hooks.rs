//! State of hooks: the scripts in use, their unsettled actions, and failures.

use serde::{Deserialize, Serialize};

use super::{QuotasView, ScriptView};
use crate::base::clock::timestamp;
use crate::engine::shared::EngineError;
use crate::engine::{Engine, epoch};
use crate::model::hook::NOTIFY;
use crate::model::intent::IntentState;
use crate::model::ran::{FailedHook, Fate, Pending, Undone};
use crate::plan::World;

/// Largest number of entries in each list.
const SHOWN_MAX: usize = 1000;

/// State of hooks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HooksView {
    /// The names of the scripts in use.
    pub scripts: Vec<String>,
    /// SHA-256 of the set in use; `None`: no good set was found yet.
    pub loaded: Option<String>,
    /// SHA-256 of the set in the folder.
    pub files: Option<String>,
    /// Number of problems of the set in the folder; with any, an older set is in use.
    pub problems: usize,
    /// Every script that the state knows, also those whose file is missing.
    #[serde(default)]
    pub known: Vec<ScriptView>,
    /// Actions that are not settled.
    pub waiting: Vec<WishView>,
    /// Hooks that failed and are run again.
    pub failed: Vec<FailedView>,
    /// Hooks that failed for good: they need attention.
    pub dead: Vec<FailedView>,
    /// Actions that ended without being done: they need attention.
    pub undone: Vec<UndoneView>,
    /// The count of each list's entries.
    #[serde(default)]
    pub totals: HookTotals,
    /// Growing data, against its bounds.
    #[serde(default)]
    pub quotas: QuotasView,
}

/// Counts of hooks' open entries: lists contain the first of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookTotals {
    /// Actions that are not settled.
    pub waiting: u64,
    /// Hooks that failed and are run again.
    pub failed: u64,
    /// Hooks that failed for good.
    pub dead: u64,
}

/// An action that ended without being done, as far as is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoneView {
    /// The merchant of the event.
    pub merchant: String,
    pub event: String,
    /// The action's name within the event.
    pub name: String,
    pub verb: String,
    /// The script that requested it.
    pub script: String,
    pub fate: Fate,
    pub message: String,
    pub at: String,
    /// The possible remedy.
    pub help: String,
}

/// An action that is not settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WishView {
    /// The merchant of the event.
    pub merchant: String,
    pub event: String,
    /// The action's name within the event.
    pub name: String,
    pub verb: String,
    /// The script that requested it.
    pub script: String,
    /// Earliest time of the action.
    pub at: Option<String>,
    /// Time of the request.
    pub since: String,
    /// The reason why it waits for a person, and the remedy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
    /// The reason why it is looked up before it is done, and the end of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<String>,
}

/// A hook that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedView {
    /// The merchant of the event.
    pub merchant: String,
    pub event: String,
    pub script: String,
    /// The cause, with the place in the script.
    pub message: String,
    /// Number of runs.
    pub tries: u32,
    /// Time of the next run.
    pub again: Option<String>,
}

impl Engine {
    /// Returns the state of hooks.
    pub(super) fn hooks_view(&self) -> Result<HooksView, EngineError> {
        let failed = self.shared.facts.first_failed(SHOWN_MAX)?;
        let (again, dead): (Vec<_>, Vec<_>) =
            failed.iter().partition(|failed| failed.failed.again.is_some());
        let mut view = self.scripts_view();
        view.known = self.roster_view()?;
        view.quotas = self.quotas()?;
        view.undone = self.shared.facts.undone()?.iter().map(undone_view).collect();
        for pending in self.shared.facts.first_pending(SHOWN_MAX)? {
            let held = epoch::unsure_action(&self.shared.facts, &pending)?;
            view.waiting
                .push(WishView { waits: self.doubt(&pending), ..wish_view(&pending, held) });
        }
        view.failed = again.into_iter().map(failed_view).collect();
        view.dead = dead.into_iter().map(failed_view).collect();
        for ledger in self.shared.facts.event_ledgers()? {
            let totals = &mut view.totals;
            totals.waiting = totals.waiting.saturating_add(ledger.pending);
            totals.failed = totals.failed.saturating_add(ledger.retried);
            totals.dead = totals.dead.saturating_add(ledger.dead);
        }
        Ok(view)
    }

    /// Returns the reason why the effect of an action is in doubt, if it is.
    fn doubt(&self, pending: &Pending) -> Option<String> {
        let open = self.world.open(&pending.action().ok()?)?;
        match &open.state {
            IntentState::InDoubt { attempt: _, reason } => Some(reason.clone()),
            IntentState::Open { .. } | IntentState::Held { .. } | IntentState::Closed => None,
        }
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
        waits: None,
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

fn undone_view(undone: &Undone) -> UndoneView {
    let Undone { granted, verb, script } = undone;
    UndoneView {
        merchant: granted.id.merchant.short(),
        event: granted.id.event.clone(),
        name: granted.id.name.to_string(),
        verb: verb.clone(),
        script: script.clone(),
        fate: granted.fate,
        message: granted.message.clone(),
        at: timestamp(&granted.at),
        help: next(granted.fate, verb).to_owned(),
    }
}

/// Returns a person's remedy for an action that was not done. Its name is used up, so that it can
/// never happen twice.
fn next(fate: Fate, verb: &str) -> &'static str {
    match fate {
        Fate::Done | Fate::Skipped => "nothing",
        Fate::Refused if verb == NOTIFY => {
            "nothing was sent: correct the target (`notify` of reckon.yaml) or the script, and send the words another way"
        }
        Fate::Refused => {
            "nothing was done, and the script cannot ask again for this event: `reckon gateway` can, under another name"
        }
        Fate::Invalid => {
            "nothing was sent: mend the script for the next event; what this one needed, `reckon gateway` does"
        }
        Fate::Unknown => "check whether it arrived: it is not sent again",
    }
}
