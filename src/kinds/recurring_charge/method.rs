//! Details of the method that pays, as a recurring charge carries them.
//!
//! The service copies the details when the charge is created. A change of the saved method, or
//! another method, therefore reaches the charge only by a fresh one-time token (gateway-api, PATCH
//! /v1/recurring/charges/{id}). The applied spec holds a digest of the details, at a path beneath
//! `method`. Details from a payer are in no document: then the payer's page supplies a token for
//! the charge, too (`given`).

use std::sync::Arc;

use serde_json::{Value, json};

use super::request::ChangeBody;
use super::{account, intake_details};
use crate::base::hash::{Digest, canonical, keyed_digest, sha256};
use crate::base::id::RemoteId;
use crate::effects::core::context::EffectContext;
use crate::effects::methods::token_create::{FreshToken, create_token_for};
use crate::effects::recurring::change::{
    change_recurring, change_recurring_by_intake, renew_recurring,
};
use crate::kinds::planning::step::{MERCHANT, StepCx, ready_state, reference};
use crate::kinds::saved_method::intake::{given_details as given_to, is_intake};
use crate::kinds::saved_method::shape::SavedMethodKind;
use crate::kinds::saved_method::step::source;
use crate::kinds::schema::kind::SpecSchema;
use crate::kinds::secrets::redact::redact;
use crate::model::intents::effect::Effect;
use crate::model::plans::plan::Reason;
use crate::model::spec::manifest::Manifest;
use crate::model::state::observed::Observed;

/// The path of the digest.
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
            let given = intake_details::usable_token(cx, manifest, made);
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

/// Returns whether the charge is complete.
pub(super) fn is_over(have: &Observed) -> bool {
    have.text("status") == Some("COMPLETED")
}

/// Returns the digest of a saved method whose private values are digests already.
pub(super) fn digest(cx: &StepCx<'_>, redacted: &Value) -> Value {
    let mut details = vec![redacted.get("type"), redacted.get("source")];
    details.extend(given_to(redacted).map(Some));
    let details = json!(details);
    json!({"digest": keyed_digest(cx.digest_key, LABEL, &canonical(&details)).short()})
}

/// Sets the details that a new charge copies: those saved at the service, which the document may be
/// ahead of.
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
    let unknown = || Reason::Unsuitable("the applied state of the charge is unknown".to_owned());
    let known = have.ok_or_else(unknown)?;
    let applied = known.applied.as_ref().ok_or_else(unknown)?;
    let owner = reference(manifest, MERCHANT).ok_or_else(unknown)?;
    account::allow(cx, manifest, &*ready_state(cx, &owner)?)?;
    if let Some(method) = payer_method(cx, manifest) {
        let waits = || intake_details::awaits_payer(cx, &method, intake_details::OTHER);
        let given = intake_details::usable_token(cx, manifest, Some(known)).ok_or_else(waits)?;
        let new = with_combined_digest(new, given.brought.digest);
        let effect = change_recurring(new, target, changed.body, changed.text);
        return Ok(change_recurring_by_intake(
            effect,
            source(&method.spec).method_type,
            &given.saved,
            &given.brought,
        ));
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
