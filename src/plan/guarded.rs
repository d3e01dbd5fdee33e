//! Blocks a step that exceeds a limit. The step keeps its money, and its reason keeps the wanted
//! verdict. So the plan shows the excess, and an approval can name the step.

use crate::base::id::Key;
use crate::kinds::step::{Draft, StepCx, merchant_of, mode_of};
use crate::model::limit::Over;
use crate::model::manifest::Manifest;
use crate::model::observed::Observed;
use crate::model::plan::{Reason, Verdict};
use crate::model::stake::{Stake, Wish};
use crate::plan::World;
use crate::policy::approval::rest;

/// Returns the draft, or the same draft blocked.
pub(super) fn guarded(
    cx: &StepCx<'_>,
    world: &dyn World,
    (key, manifest, observed): (&Key, Option<&Manifest>, Option<&Observed>),
    mut draft: Draft,
) -> Draft {
    if draft.verdict == Verdict::Delete {
        draft.counts.deletes = draft.counts.deletes.max(1);
    }
    let stake = Stake::new(&draft.money, draft.counts);
    if !draft.verdict.changes() || stake.is_empty() {
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
    let wish = Wish { key: key.clone(), merchant, mode, generation, rest: None, stake };
    let document = || rest(manifest.map(|manifest| &manifest.spec), cx.digest_key);
    match world.over(&wish, &document) {
        Some(over) => Draft {
            verdict: Verdict::Blocked,
            reason: Reason::OverLimit(Box::new(Over { wants: draft.verdict, ..over })),
            work: None,
            offer: None,
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
