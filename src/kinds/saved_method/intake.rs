//! Saved method whose details a payer gives: it waits for a one-time token, is saved by that token,
//! and is changed by the next one.
//!
//! No document shows such details, so they are identified by the token that gave them. The identity
//! is in the applied spec, at a path beneath `source`. Other details are therefore a change like
//! any other, which resources that copied the details can detect.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::source::INTAKE;
use super::step::source;
use crate::effects::good_until;
use crate::kinds::step::StepCx;
use crate::model::attachment::{Awaited, Brought};
use crate::model::manifest::Manifest;
use crate::model::observed::{Applied, Observed, Refusal};
use crate::model::plan::Reason;

/// The path of the identity of the given details.
const GIVEN: &str = "source.given";
/// The status of a token that no longer exists, or never did.
const NO_TOKEN: u16 = 404;
/// Explanation for a token that arrived too late.
const TOO_LATE: &str =
    "the token was not taken in time: it is good for five minutes; open the link again";
/// Explanation for a token that the service does not know: it was used, or has expired.
const DEAD: &str = "its one-time token was used or has ended: give another one";
/// Explanation for a method that was saved from its document.
const WRITTEN_BEFORE: &str = "what is saved stood in its document before; raise reckon.dev/generation to keep that beside another one";

/// Returns whether a payer gives the details of the method.
pub fn is_intake(spec: &Value) -> bool {
    spec.get("source").is_some_and(|source| source == INTAKE)
}

/// Returns the applied state under the document's own generation; `None` before the first one.
pub fn stored<'a>(manifest: &Manifest, have: Option<&'a Observed>) -> Option<&'a Applied> {
    let applied = have.filter(|have| have.exists)?.applied.as_ref()?;
    (applied.generation >= manifest.annotations.generation).then_some(applied)
}

/// Returns the identity of the details that a payer gave, from an applied spec; `None` if a payer
/// gave none.
pub fn given(applied: &Value) -> Option<&Value> {
    applied.get(GIVEN)
}

/// Returns the details that a method awaits from its payer, and the reason why the latest token
/// failed, if one did.
pub fn awaited(manifest: &Manifest, have: Option<&Observed>, now: DateTime<Utc>) -> Awaited {
    let trouble = token(manifest, have, now).err().flatten();
    let written = |applied: &Applied| !is_intake(&applied.spec);
    let replaced = stored(manifest, have);
    let before = replaced.is_some_and(written).then(|| WRITTEN_BEFORE.to_owned());
    Awaited {
        key: manifest.key.clone(),
        sort: source(&manifest.spec).sort.word(),
        trouble: trouble.or(before),
        replaces: replaced.is_some(),
    }
}

/// Returns the supplied token while it may be sent.
///
/// # Errors
///
/// The details for which the method waits.
pub(super) fn brought(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: Option<&Observed>,
) -> Result<Brought, Reason> {
    let waits = |_| Reason::AwaitsIntake(Box::new(awaited(manifest, have, cx.now)));
    token(manifest, have, cx.now).map_err(waits)
}

/// Returns the document with the identity of the details: those of a newly supplied token, else
/// those saved.
pub(super) fn compared<'a>(
    cx: &StepCx<'_>,
    manifest: &'a Manifest,
    have: Option<&Observed>,
) -> Cow<'a, Manifest> {
    if !is_intake(&manifest.spec) {
        return Cow::Borrowed(manifest);
    }
    let saved = || stored(manifest, have).and_then(|applied| given(&applied.spec).cloned());
    let brought = token(manifest, have, cx.now).ok();
    let details = brought.map(|brought| Brought::given(brought.digest)).or_else(saved);
    let Some(details) = details else { return Cow::Borrowed(manifest) };
    let mut manifest = manifest.clone();
    if let Some(spec) = manifest.spec.as_object_mut() {
        spec.insert(GIVEN.to_owned(), details);
    }
    Cow::Owned(manifest)
}

/// Returns the supplied token.
///
/// # Errors
///
/// `None` if no token exists, else the reason why it cannot be used, for people.
fn token(
    manifest: &Manifest,
    have: Option<&Observed>,
    now: DateTime<Utc>,
) -> Result<Brought, Option<String>> {
    let generation = manifest.annotations.generation;
    let known = have.and_then(|have| Some((have, Brought::of(have, generation)?)));
    let Some((have, brought)) = known else { return Err(None) };
    if let Some(refusal) = &have.refusal {
        return Err(Some(told(refusal)));
    }
    if good_until(&brought) <= now {
        return Err(Some(TOO_LATE.to_owned()));
    }
    Ok(brought)
}

/// Describes the service's refusal of the token to people.
fn told(refusal: &Refusal) -> String {
    if refusal.status == NO_TOKEN {
        return DEAD.to_owned();
    }
    format!("the service did not save it: {}", refusal.problem.sentences())
}
