//! Recurring charge whose payer gives the method's details anew: the charge copied the earlier
//! details, and takes others only by a one-time token of its own. The payer's page supplies one for
//! each charge, beside that of the method.
//!
//! The token is used only after the method itself was saved by the token that came with it. If none
//! arrived, or it was of no use, the step reports that the charge still pays by the earlier
//! details.

use std::sync::Arc;

use super::RecurringChargeKind;
use super::method::{DETAILS, digest, is_over, payer_method};
use crate::base::id::Key;
use crate::effects::methods::save::good_until;
use crate::kinds::planning::step::{StepCx, StepDecision, reference};
use crate::kinds::saved_method::intake::{applied_state, given_details, is_intake};
use crate::kinds::saved_method::shape::SavedMethodKind;
use crate::kinds::saved_method::step::source;
use crate::kinds::schema::kind::SpecSchema;
use crate::model::operator::token_attachment::{AwaitedDetails, SuppliedToken};
use crate::model::plans::plan::{PlannedAction, Reason};
use crate::model::spec::manifest::Manifest;
use crate::model::state::observed::{AppliedSpec, Observed};

/// Explanation for a charge that its document gives to another method.
pub(super) const OTHER: &str = "the service accepts another method only by a one-time token";
/// Explanation for a charge that pays by the earlier details of its method.
const BEFORE: &str = "the charge still pays by the earlier details of its method: the service accepts other ones \
                      only by a one-time token for the charge";

/// A token for the charge, and the currently saved state of its method.
#[derive(Debug)]
pub(super) struct ChargeToken {
    pub(super) brought: SuppliedToken,
    pub(super) saved: Arc<Observed>,
    pub(super) applied: AppliedSpec,
}

/// Returns the token that was supplied for a charge, once it may be used: the method is saved by
/// the token that came with it.
pub(super) fn usable_token(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: Option<&Observed>,
) -> Option<ChargeToken> {
    let key = reference(manifest, SavedMethodKind::NAME)?;
    let have = have.filter(|have| have.refusal.is_none())?;
    let brought = SuppliedToken::of(have, manifest.annotations.generation)?;
    let beside = brought.copied_method.as_ref().filter(|beside| beside.method == key)?;
    let saved = cx.view.observed_state(&key).filter(|_| cx.view.is_ready(&key))?;
    let applied = saved.applied.clone().filter(|_| saved.exists)?;
    let fits = given_details(&applied.spec) == Some(&SuppliedToken::details_marker(beside.token));
    (fits && cx.now < good_until(&brought)).then_some(ChargeToken { brought, saved, applied })
}

/// Returns the reason of a charge that waits for the payer of its method.
pub(super) fn awaits_payer(cx: &StepCx<'_>, method: &Manifest, why: &str) -> Reason {
    let saved = cx.view.observed_state(&method.key);
    Reason::AwaitsIntake(Box::new(AwaitedDetails {
        key: method.key.clone(),
        method_type: source(&method.spec).method_type.word(),
        failure: Some(why.to_owned()),
        replaces: applied_state(method, saved.as_deref()).is_some(),
    }))
}

/// Makes a charge wait that matches its document except for the details of its method.
pub(super) fn wait_for_details(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: Option<&Observed>,
    draft: StepDecision,
) -> StepDecision {
    let idle = draft.verdict == PlannedAction::Settled && draft.work.is_none();
    let made = have.filter(|have| idle && draft.ready && have.exists && !is_over(have));
    let applied = made.and_then(|have| have.applied.as_ref());
    let copied = applied.and_then(|applied| applied.spec.get(DETAILS));
    let Some((copied, method)) = copied.zip(payer_method(cx, manifest)) else { return draft };
    let saved = cx.view.observed_state(&method.key);
    match applied_state(&method, saved.as_deref()) {
        Some(saved) if digest(cx, &saved.spec) != *copied => {
            StepDecision::idle(PlannedAction::Wait, awaits_payer(cx, &method, BEFORE))
        }
        Some(_) | None => draft,
    }
}

/// Returns whether a payer gives the details of a charge's method: a card's date is then in no
/// document. `find` returns a document.
pub fn is_paid_by_payer(charge: &Manifest, find: impl FnOnce(&Key) -> Option<Manifest>) -> bool {
    let method = reference(charge, SavedMethodKind::NAME).and_then(|key| find(&key));
    charge.key.kind.as_str() == RecurringChargeKind::NAME
        && method.is_some_and(|method| is_intake(&method.spec))
}

/// Returns whether a charge takes a token when a payer gives the details of this method: the charge
/// exists, continues, and its document names the method.
pub fn takes_token(manifest: &Manifest, have: Option<&Observed>, method: &Key) -> bool {
    let names = manifest.key.kind.as_str() == RecurringChargeKind::NAME
        && reference(manifest, SavedMethodKind::NAME).as_ref() == Some(method);
    names
        && applied_state(manifest, have).is_some()
        && have.is_some_and(|have| !is_over(have) && have.text("ended").is_none())
}
