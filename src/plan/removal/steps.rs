//! Obstacles to a removal after its document disappeared: guards, and, for live objects, a delay.
//! Also the obstacle to a creation that looks like a missing document under another name.

use super::prune_state::{PruneState, removal_due};
use crate::base::id::{Key, Mode};
use crate::kinds::planning::removal::current_key;
use crate::kinds::planning::step::{StepCx, StepDecision, mode_of};
use crate::model::intents::effect::StepWork;
use crate::model::plans::plan::{PlannedAction, Reason};
use crate::model::plans::removal::RemovalStatus;
use crate::model::state::observed::Observed;
use crate::plan::core::planner::StateView;
use crate::policy::prune::PruneGuards;

/// Returns the kind's removal of an object without a document, unless a guard or a delay stops it.
pub(crate) fn guard_removal(
    cx: &StepCx<'_>,
    (absences, prune): (&PruneState, &PruneGuards),
    key: &Key,
    known: &Observed,
    draft: StepDecision,
) -> StepDecision {
    if draft.verdict != PlannedAction::Delete {
        return draft;
    }
    let going = match absences.tripped_guard(key) {
        Some(trip) => Some(RemovalStatus::Guarded { key: key.clone(), trip: trip.clone() }),
        None => pending_delay(cx, prune, known),
    };
    match going {
        Some(going) => {
            let verdict =
                if going.needs_operator() { PlannedAction::Blocked } else { PlannedAction::Wait };
            let stopped = StepDecision::idle(verdict, Reason::Removal(Box::new(going)));
            StepDecision { money: draft.money, ready: true, ..stopped }
        }
        None => block_if_refused(known, draft),
    }
}

/// Returns the state of a live object that must wait: it is removed some time after its mark.
fn pending_delay(cx: &StepCx<'_>, prune: &PruneGuards, known: &Observed) -> Option<RemovalStatus> {
    let live = mode_of(cx.view, &current_key(cx, &known.merchant)) == Some(Mode::Live);
    let absence = known.missing_document.as_deref();
    let at_once =
        absence.and_then(|absence| absence.allowed.as_ref()).is_some_and(|word| word.at_once);
    if !live || at_once || prune.delay.value.is_zero() {
        return None;
    }
    let Some(marked) = absence.and_then(|absence| absence.marked.as_ref()) else {
        return Some(RemovalStatus::Unmarked { delay: format_delay(prune.delay.value) });
    };
    let until = removal_due(known, prune)?;
    (cx.now < until).then_some(RemovalStatus::Marked { until, since: marked.at })
}

/// Formats a delay as `24h`, or in smaller units.
fn format_delay(delay: std::time::Duration) -> String {
    let seconds = delay.as_secs();
    match (seconds.checked_rem(3600), seconds.checked_rem(60)) {
        (Some(0), _) => format!("{}h", seconds.div_euclid(3600)),
        (_, Some(0)) => format!("{}m", seconds.div_euclid(60)),
        _ => format!("{seconds}s"),
    }
}

/// Blocks a removal that was refused: the same effect is not sent again.
fn block_if_refused(known: &Observed, draft: StepDecision) -> StepDecision {
    let Some(StepWork::Effect(effect)) = &draft.work else { return draft };
    let refusal = known.refusal.as_ref().filter(|refusal| refusal.digest == effect.applied.digest);
    match refusal {
        Some(refusal) => {
            let why = crate::plan::core::step::format_refusal(refusal);
            let blocked = StepDecision::idle(PlannedAction::Blocked, Reason::Refused(why));
            StepDecision { money: draft.money, ..blocked }
        }
        None => draft,
    }
}

/// Returns the kind's creation, unless the document looks renamed.
pub(crate) fn block_if_renamed(
    absences: &PruneState,
    key: &Key,
    draft: StepDecision,
) -> StepDecision {
    let Some(from) = absences.twin(key) else { return draft };
    let going = RemovalStatus::LooksRenamed { key: key.clone(), from: from.clone() };
    let blocked = StepDecision::idle(PlannedAction::Blocked, Reason::Removal(Box::new(going)));
    StepDecision { changes: draft.changes, ..blocked }
}

/// Returns whether the step must be recomputed at a later time for this reason.
pub(crate) fn is_dated(reason: &Reason) -> bool {
    matches!(reason, Reason::Removal(going) if matches!(**going, RemovalStatus::Marked { .. }))
}

/// Returns whether absences may be recorded: the tree is complete.
pub(crate) fn is_tree_complete(world: &dyn StateView) -> bool {
    world.desired().tree_state == crate::model::spec::desired::TreeState::Complete
}
