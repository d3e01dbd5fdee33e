//! Blocks a step that exceeds a limit. The step keeps its money, and its reason keeps the wanted
//! verdict. So the plan shows the excess, and an approval can name the step.

use crate::base::id::Key;
use crate::kinds::planning::step::{StepCx, StepDecision, merchant_of, mode_of};
use crate::model::plans::exposure::{Exposure, SpendRequest};
use crate::model::plans::limit::LimitExceeded;
use crate::model::plans::plan::{PlannedAction, Reason};
use crate::model::spec::manifest::Manifest;
use crate::model::state::observed::Observed;
use crate::plan::core::planner::StateView;
use crate::policy::approval::amountless_digest;

/// Returns the draft, or the same draft blocked.
pub(crate) fn apply_limits(
    cx: &StepCx<'_>,
    world: &dyn StateView,
    (key, manifest, observed): (&Key, Option<&Manifest>, Option<&Observed>),
    mut draft: StepDecision,
) -> StepDecision {
    if draft.verdict == PlannedAction::Delete {
        draft.counts.deletes = draft.counts.deletes.max(1);
    }
    let stake = Exposure::new(&draft.money, draft.counts);
    if !draft.verdict.is_change() || stake.is_empty() {
        return draft;
    }
    let said = manifest.and_then(merchant_of);
    let Some(merchant) = said.or_else(|| observed.map(|known| known.merchant.clone())) else {
        return draft;
    };
    // Without a mode no work is possible yet, and the step is recomputed once there is one.
    let Some(mode) = mode_of(cx.view, &merchant) else { return draft };
    let said = manifest.map(|manifest| manifest.annotations.generation);
    let generation = generation_of(said, observed);
    let wish = SpendRequest {
        key: key.clone(),
        merchant,
        mode,
        generation,
        amountless_digest: None,
        exposure: stake,
    };
    let document = || amountless_digest(manifest.map(|manifest| &manifest.spec), cx.digest_key);
    match world.exceeded_limit(&wish, &document) {
        Some(over) => StepDecision {
            verdict: PlannedAction::Blocked,
            reason: Reason::OverLimit(Box::new(LimitExceeded { intended: draft.verdict, ..over })),
            work: None,
            on_demand: None,
            ready: false,
            ..draft
        },
        None => draft,
    }
}

/// Returns the generation of a step: its document's, else the one under which the object was made.
pub fn generation_of(said: Option<u32>, observed: Option<&Observed>) -> u32 {
    let known = || observed.and_then(|known| known.applied.as_ref()).map(|one| one.generation);
    said.or_else(known).unwrap_or(0)
}
