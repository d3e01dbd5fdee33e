//! Details of the method that pays, as a recurring charge carries them.
//!
//! The service copies the details when the charge is created. Other details therefore reach the
//! charge only by a fresh one-time token (gateway-api, PATCH /v1/recurring/charges/{id}). The
//! applied spec holds a digest of the details. Details from a payer are in no document: then the
//! payer's page supplies a token for the charge, too (`given`). That token is used only after the
//! method itself was saved by the token that came with it. If none arrived, or it was of no use,
//! the step reports that the charge still pays by the earlier details.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::base::hash::{Digest, canonical, keyed_digest, sha256};
use crate::base::id::{Key, RemoteId};
use crate::effects::core::context::EffectContext;
use crate::effects::methods::save::{FreshToken, create_token_for, good_until};
use crate::effects::recurring::change::{
    change_recurring, change_recurring_by_intake, renew_recurring,
};
use crate::kinds::planning::step::{StepCx, StepDecision, ready_state, reference, unsuitable};
use crate::kinds::recurring_charge::request::ChangeBody;
use crate::kinds::recurring_charge::{RecurringChargeKind, account};
use crate::kinds::saved_method::SavedMethodKind;
use crate::kinds::saved_method::source::{applied_state, given_details, is_intake, source};
use crate::kinds::schema::kind::SpecSchema;
use crate::kinds::secrets::redact;
use crate::model::change::PlannedAction;
use crate::model::effect::Effect;
use crate::model::manifest::Manifest;
use crate::model::plan::Reason;
use crate::model::state::observed::{AppliedSpec, Observed};
use crate::model::state::token_attachment::{AwaitedDetails, SuppliedToken};

pub(super) const DETAILS: &str = "method.details";
/// Domain label that separates this digest from all others under the same key.
const LABEL: &str = "method-details";

/// Returns the document with a digest of its method's details, for comparison with the applied
/// spec. A charge keeps its details if it is complete, or if no document holds them; if its payer
/// must give them, it keeps them until then.
pub(super) fn with_details_digest(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: Option<&Observed>,
) -> Manifest {
    let made = have.filter(|have| have.exists);
    let applied = made.and_then(|have| have.applied.as_ref()).map(|applied| &applied.spec);
    let before = applied.map(|spec| spec.get(DETAILS));
    let same = applied.is_some_and(|spec| spec.get("method") == manifest.spec.get("method"));
    let over = made.is_some_and(is_over);
    let method = reference(manifest, SavedMethodKind::NAME).and_then(|key| cx.view.manifest(&key));
    let wanted = || {
        Some(digest(cx, &redact(SavedMethodKind::FIELDS, &method.as_ref()?.spec, cx.digest_key)))
    };
    let details = match before {
        Some(before) if over && same => before.cloned(),
        Some(before) if method.as_deref().is_some_and(|one| is_intake(&one.spec)) => {
            let given = usable_token(cx, manifest, made);
            given.map(|given| digest(cx, &given.applied.spec)).or_else(|| before.cloned())
        }
        Some(None) if same => None,
        Some(before) => wanted().or_else(|| before.cloned()),
        None => wanted(),
    };
    let mut manifest = manifest.clone();
    if let (Some(details), Some(spec)) = (details, manifest.spec.as_object_mut()) {
        spec.insert(DETAILS.to_owned(), details);
    }
    manifest
}

/// Returns the method's document if a payer gives its details: nothing in it reveals them.
pub(super) fn payer_method(cx: &StepCx<'_>, manifest: &Manifest) -> Option<Arc<Manifest>> {
    let method = cx.view.manifest(&reference(manifest, SavedMethodKind::NAME)?)?;
    is_intake(&method.spec).then_some(method)
}

pub(super) fn is_over(have: &Observed) -> bool {
    have.text("status") == Some("COMPLETED")
}

/// Returns the digest of a saved method whose private values are digests already.
pub(super) fn digest(cx: &StepCx<'_>, redacted: &Value) -> Value {
    let mut details = vec![redacted.get("type"), redacted.get("source")];
    details.extend(given_details(redacted).map(Some));
    let details = json!(details);
    json!({"digest": keyed_digest(cx.digest_key, LABEL, &canonical(&details)).short()})
}

/// Sets the details that a new charge copies: the saved ones, which the document may be ahead of.
pub(super) fn with_saved_details(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    mut new: EffectContext,
) -> EffectContext {
    let saved =
        reference(manifest, SavedMethodKind::NAME).and_then(|key| cx.view.observed_state(&key));
    let saved = saved.as_ref().and_then(|saved| saved.applied.as_ref());
    if let (Some(saved), Some(spec)) = (saved, new.applied.spec.as_object_mut())
        && spec.contains_key(DETAILS)
    {
        spec.insert(DETAILS.to_owned(), digest(cx, &saved.spec));
    }
    new
}

/// Returns the first or second of two effects: a token of the method's details, then the change by
/// that token. A token from a payer needs only the change.
pub(super) fn renew(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: Option<&Observed>,
    new: EffectContext,
    (target, changed): (&RemoteId, ChangeBody<'_>),
) -> Result<Effect, Reason> {
    let unknown = || unsuitable("the applied state of the charge is unknown");
    let known = have.ok_or_else(unknown)?;
    let applied = known.applied.as_ref().ok_or_else(unknown)?;
    account::allow(cx, manifest, &*ready_state(cx, &new.merchant)?)?;
    if let Some(method) = payer_method(cx, manifest) {
        let waits = || awaits_payer(cx, &method, OTHER);
        let given = usable_token(cx, manifest, Some(known)).ok_or_else(waits)?;
        let new = with_combined_digest(new, given.brought.digest);
        let effect = change_recurring(new, target, changed.body, changed.text);
        let sort = source(&method.spec).method_type;
        return Ok(change_recurring_by_intake(effect, sort, &given.saved, &given.brought));
    }
    let method = written_method(cx, manifest)?;
    let source = source(&method.spec);
    let new = with_combined_digest(new, method.digest);
    Ok(match FreshToken::of(known, new.applied.digest) {
        Some(token) => {
            let effect = change_recurring(new, target, changed.body, changed.text);
            renew_recurring(effect, source, &token)
        }
        None => create_token_for(new, source, applied, &method.key),
    })
}

/// Returns the document of the method, which must contain the details for a token.
fn written_method(cx: &StepCx<'_>, manifest: &Manifest) -> Result<Arc<Manifest>, Reason> {
    let key = reference(manifest, SavedMethodKind::NAME);
    let method = key.as_ref().and_then(|key| cx.view.manifest(key));
    let method = method.filter(|method| source(&method.spec).details.is_object());
    method.ok_or_else(|| {
        let name = key.map_or_else(|| "its method".to_owned(), |key| key.short());
        Reason::Unsuitable(format!(
            "method: the service accepts other details only by a one-time token, which needs the details of {name}; \
             write the details in that document, or raise reckon.dev/generation for a new charge and cancel the old \
             one"
        ))
    })
}

/// Combines the digests of both documents, or of the document and the given details. A refusal
/// holds until either of them changes, and a token is used only for its own purpose.
fn with_combined_digest(mut new: EffectContext, method: Digest) -> EffectContext {
    let both = [new.applied.digest.as_bytes().as_slice(), method.as_bytes()].concat();
    new.applied.digest = sha256(&both);
    new
}

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

/// Returns the supplied token once it may be used: the method is saved by the one beside it.
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
pub fn is_paid_by_payer(
    charge: &Manifest,
    find: impl FnOnce(&Key) -> Option<Arc<Manifest>>,
) -> bool {
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
