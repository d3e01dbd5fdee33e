//! Blocks of a drafted step: a suspension, a restored or lost state, a limit.
//!
//! - A person's suspension covers a resource by its own name or by its merchant's.
//! - After a restore, an effect that no lookup can find is on hold until a person declares that it
//!   did not happen. In a state that began empty, live applications wait for a person's approval.
//! - A step that exceeds a limit keeps its money, and its reason keeps the wanted verdict. So the
//!   plan shows the excess, and an approval can name the step.

use std::sync::Arc;

use crate::base::fault_injection;
use crate::base::id::{Key, Mode};
use crate::effects::core::repeat_risk::{RepeatRisk, is_reported_by_webhook_only, repeat_risk};
use crate::effects::register::effect_row;
use crate::kinds::planning::step::{StepCx, StepDecision, merchant_of, mode_of};
use crate::model::intents::effect::StepWork;
use crate::model::intents::exposure::{Exposure, SpendRequest};
use crate::model::manifest::Manifest;
use crate::model::operator::suspension::Suspension;
use crate::model::plans::change::{LimitExceeded, PlannedAction};
use crate::model::plans::plan::Reason;
use crate::model::state::observed::Observed;
use crate::plan::state_view::StateView;
use crate::policy::approval::amountless_digest;

/// Returns the suspension that holds now, if any.
pub(crate) fn active_suspension(
    world: &dyn StateView,
    key: &Key,
    manifest: Option<&Manifest>,
    observed: Option<&Observed>,
) -> Option<Arc<Suspension>> {
    let said = manifest.and_then(merchant_of);
    let merchant = said.or_else(|| observed.map(|observed| observed.merchant.clone()));
    let names = [Some(key.clone()), merchant].into_iter().flatten();
    let mut told = names.filter_map(|name| world.suspension(&name));
    told.find(|suspension| suspension.is_in_force(world.now()))
}

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
