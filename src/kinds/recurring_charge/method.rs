//! The details of the method that pays, as a recurring charge carries them.
//!
//! The service copies them when the charge is made, so a saved method that changes, and another one,
//! reach it by a fresh one-time token alone (gateway-api, PATCH /v1/recurring/charges/{id}). What was put
//! on the service therefore holds a digest of them, at a path beneath `method`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::account;
use super::request::Changed;
use crate::base::hash::{Digest, canonical, keyed, sha256};
use crate::base::id::RemoteId;
use crate::effects::{FreshToken, Obligation, change_recurring, create_token_for, renew_recurring};
use crate::kinds::Shape;
use crate::kinds::redact::redact;
use crate::kinds::saved_method::{SavedMethod, source};
use crate::kinds::step::{MERCHANT, StepCx, needed, reference};
use crate::model::effect::Effect;
use crate::model::manifest::Manifest;
use crate::model::observed::Observed;
use crate::model::plan::Reason;

/// The path of the digest.
const DETAILS: &str = "method.details";
/// Separates this digest from all others under the same key.
const LABEL: &str = "method-details";

/// The document with a digest of its method's details, to be compared with what was put on the service.
/// A charge that is complete, or whose details nobody wrote down, keeps what it has.
pub(super) fn compared(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> Manifest {
    let made = have.filter(|have| have.exists);
    let applied = made.and_then(|have| have.applied.as_ref()).map(|applied| &applied.spec);
    let before = applied.map(|spec| spec.get(DETAILS));
    let same = applied.is_some_and(|spec| spec.get("method") == manifest.spec.get("method"));
    let over = made.is_some_and(|have| have.text("status") == Some("COMPLETED"));
    let details = match before {
        Some(None) if same => None,
        Some(before) if over && same => before.cloned(),
        Some(before) => wanted(cx, manifest).or_else(|| before.cloned()),
        None => wanted(cx, manifest),
    };
    let mut manifest = manifest.clone();
    if let (Some(details), Some(spec)) = (details, manifest.spec.as_object_mut()) {
        spec.insert(DETAILS.to_owned(), details);
    }
    manifest
}

/// The digest of what the method's document says now.
fn wanted(cx: &StepCx<'_>, manifest: &Manifest) -> Option<Value> {
    let method = cx.view.manifest(&reference(manifest, SavedMethod::NAME)?)?;
    Some(digest(cx, &redact(SavedMethod::FIELDS, &method.spec, cx.digest_key)))
}

/// The digest of a saved method whose private values are digests already.
fn digest(cx: &StepCx<'_>, redacted: &Value) -> Value {
    let details = json!([redacted.get("type"), redacted.get("source")]);
    json!({"digest": keyed(cx.digest_key, LABEL, &canonical(&details)).short()})
}

/// What a new charge copies is what was saved, which the document may be ahead of.
pub(super) fn copied(cx: &StepCx<'_>, manifest: &Manifest, mut new: Obligation) -> Obligation {
    let saved = reference(manifest, SavedMethod::NAME).and_then(|key| cx.view.observed(&key));
    let saved = saved.as_ref().and_then(|saved| saved.applied.as_ref());
    if let (Some(saved), Some(spec)) = (saved, new.applied.spec.as_object_mut())
        && spec.contains_key(DETAILS)
    {
        spec.insert(DETAILS.to_owned(), digest(cx, &saved.spec));
    }
    new
}

/// Two effects, one after the other: a token of the method's details, then the change by it.
pub(super) fn renewal(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: Option<&Observed>,
    new: Obligation,
    (target, changed): (&RemoteId, Changed<'_>),
) -> Result<Effect, Reason> {
    let unknown = || Reason::Unfit("what was put on the service is not known".to_owned());
    let known = have.ok_or_else(unknown)?;
    let applied = known.applied.as_ref().ok_or_else(unknown)?;
    let owner = reference(manifest, MERCHANT).ok_or_else(unknown)?;
    account::allow(cx, manifest, &*needed(cx, &owner)?)?;
    let method = at_hand(cx, manifest)?;
    let source = source(&method.spec);
    let new = wish(new, method.digest);
    Ok(match FreshToken::of(known, new.applied.digest) {
        Some(token) => {
            let effect = change_recurring(new, target, changed.body, changed.text);
            renew_recurring(effect, source, &token)
        }
        None => create_token_for(new, source, applied, &method.key),
    })
}

/// The document of the method, whose details have to be there to make a token of them.
fn at_hand(cx: &StepCx<'_>, manifest: &Manifest) -> Result<Arc<Manifest>, Reason> {
    let key = reference(manifest, SavedMethod::NAME);
    let method = key.as_ref().and_then(|key| cx.view.manifest(key));
    let method = method.filter(|method| source(&method.spec).details.is_object());
    method.ok_or_else(|| {
        let name = key.map_or_else(|| "its method".to_owned(), |key| key.short());
        Reason::Unfit(format!(
            "method: the service takes other details by a one-time token alone, and none can be made: \
             the details of {name} are not at hand. Write them in its document, or raise \
             reckon.dev/generation for a new charge and cancel the old one"
        ))
    })
}

/// The wish is that of both documents: a refusal holds until either of them changes, and a token is used
/// for just what it was made for.
fn wish(mut new: Obligation, method: Digest) -> Obligation {
    let both = [new.applied.digest.as_bytes().as_slice(), method.as_bytes()].concat();
    new.applied.digest = sha256(&both);
    new
}
