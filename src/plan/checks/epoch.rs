//! After a restore, an effect that no lookup can find is on hold until a person declares that it
//! did not happen. In a state that began empty, live applications wait for a person's approval.

use crate::base::fault_injection;
use crate::base::id::{Key, Mode};
use crate::effects::core::register::effect_row;
use crate::effects::core::repeat_risk::{RepeatRisk, is_reported_by_webhook_only, repeat_risk};
use crate::kinds::planning::step::StepDecision;
use crate::model::intents::effect::StepWork;
use crate::model::plans::plan::{PlannedAction, Reason};
use crate::plan::core::planner::StateView;

/// Returns the draft, or a hold or wait in its place where its work may have been done between
/// backup and restore, or by a lost state.
pub(crate) fn hold_if_uncertain(
    world: &dyn StateView,
    key: &Key,
    draft: StepDecision,
) -> StepDecision {
    let Some(StepWork::Effect(effect)) = &draft.work else { return draft };
    let Some(row) = effect_row(effect.name) else { return draft };
    let hidden = repeat_risk(row, effect) == RepeatRisk::Undetectable;
    if !hidden || fault_injection::is_active("restore-without-epoch") {
        return draft;
    }
    if let Some(why) = world.possibly_created(key) {
        let held = StepDecision::idle(PlannedAction::Blocked, Reason::OnHold(why));
        return StepDecision { changes: draft.changes, ..held };
    }
    if is_reported_by_webhook_only(row)
        && effect.mode == Mode::Live
        && world.maybe_created_by_lost_state(key)
    {
        let waits =
            StepDecision::idle(PlannedAction::Wait, Reason::MaybeSubmitted(Box::new(key.clone())));
        return StepDecision { changes: draft.changes, ..waits };
    }
    draft
}
