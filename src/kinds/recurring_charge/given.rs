//! Recurring charge whose payer gives the method's details anew: the charge copied the earlier
//! details, and takes others only by a one-time token of its own. The payer's page supplies one for
//! each charge, beside that of the method.
//!
//! The token is used only after the method itself was saved by the token that came with it. If none
//! arrived, or it was of no use, the step reports that the charge still pays by the earlier
//! details.

use std::sync::Arc;

use super::RecurringCharge;
use super::method::{DETAILS, digest, is_over, payers};
use crate::base::id::Key;
use crate::effects::good_until;
use crate::kinds::Shape;
use crate::kinds::saved_method::{SavedMethod, given, is_intake, source, stored};
use crate::kinds::step::{Draft, StepCx, reference};
use crate::model::attachment::{Awaited, Brought};
use crate::model::manifest::Manifest;
use crate::model::observed::{Applied, Observed};
use crate::model::plan::{Reason, Verdict};

/// Explanation for a charge that its document gives to another method.
pub(super) const OTHER: &str = "the service takes another method by a one-time token alone";
/// Explanation for a charge that pays by the earlier details of its method.
const BEFORE: &str = "it still pays by the details that its method had before: the service takes other ones by a \
                      one-time token of its own alone";

/// A token for the charge, and the currently saved state of its method.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) brought: Brought,
    pub(super) saved: Arc<Observed>,
    pub(super) applied: Applied,
}

/// Returns the token that was supplied for a charge, once it may be used: the method is saved by
/// the token that came with it.
pub(super) fn at_hand(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: Option<&Observed>,
) -> Option<Given> {
    let key = reference(manifest, SavedMethod::NAME)?;
    let have = have.filter(|have| have.refusal.is_none())?;
    let brought = Brought::of(have, manifest.annotations.generation)?;
    let beside = brought.beside.as_ref().filter(|beside| beside.method == key)?;
    let saved = cx.view.observed(&key).filter(|_| cx.view.ready(&key))?;
    let applied = saved.applied.clone().filter(|_| saved.exists)?;
    let fits = given(&applied.spec) == Some(&Brought::given(beside.token));
    (fits && cx.now < good_until(&brought)).then_some(Given { brought, saved, applied })
}

/// Returns the reason of a charge that waits for the payer of its method.
pub(super) fn waits(cx: &StepCx<'_>, method: &Manifest, why: &str) -> Reason {
    let saved = cx.view.observed(&method.key);
    Reason::AwaitsIntake(Box::new(Awaited {
        key: method.key.clone(),
        sort: source(&method.spec).sort.word(),
        trouble: Some(why.to_owned()),
        replaces: stored(method, saved.as_deref()).is_some(),
    }))
}

/// Makes a charge wait that matches its document except for the details of its method.
pub(super) fn lagging(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: Option<&Observed>,
    draft: Draft,
) -> Draft {
    let idle = draft.verdict == Verdict::Settled && draft.work.is_none();
    let made = have.filter(|have| idle && draft.ready && have.exists && !is_over(have));
    let applied = made.and_then(|have| have.applied.as_ref());
    let copied = applied.and_then(|applied| applied.spec.get(DETAILS));
    let Some((copied, method)) = copied.zip(payers(cx, manifest)) else { return draft };
    let saved = cx.view.observed(&method.key);
    match stored(&method, saved.as_deref()) {
        Some(saved) if digest(cx, &saved.spec) != *copied => {
            Draft::idle(Verdict::Wait, waits(cx, &method, BEFORE))
        }
        Some(_) | None => draft,
    }
}

/// Returns whether a payer gives the details of a charge's method: a card's date is then in no
/// document. `find` returns a document.
pub fn is_paid_by_payer(charge: &Manifest, find: impl FnOnce(&Key) -> Option<Manifest>) -> bool {
    let method = reference(charge, SavedMethod::NAME).and_then(|key| find(&key));
    charge.key.kind.as_str() == RecurringCharge::NAME
        && method.is_some_and(|method| is_intake(&method.spec))
}

/// Returns whether a charge takes a token when a payer gives the details of this method: the charge
/// exists, continues, and its document names the method.
pub fn takes_token(manifest: &Manifest, have: Option<&Observed>, method: &Key) -> bool {
    let names = manifest.key.kind.as_str() == RecurringCharge::NAME
        && reference(manifest, SavedMethod::NAME).as_ref() == Some(method);
    names
        && stored(manifest, have).is_some()
        && have.is_some_and(|have| !is_over(have) && have.text("ended").is_none())
}
