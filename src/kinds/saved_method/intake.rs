//! Saved method whose details a payer gives: it waits for a one-time token, is saved by that token,
//! and is changed by the next one.
//!
//! No document shows such details, so they are identified by the token that gave them. The identity
//! is in the applied spec, at a path beneath `source`. Other details are therefore a change like
//! any other, which resources that copied the details can detect.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::source::{INTAKE, source};
use crate::effects::methods::save::good_until;
use crate::kinds::planning::step::StepCx;
use crate::model::manifest::Manifest;
use crate::model::operator::token_attachment::{AwaitedDetails, SuppliedToken};
use crate::model::plans::plan::Reason;
use crate::model::state::observed::{AppliedSpec, Observed, ServiceRefusal};

/// The path of the identity of the given details.
const GIVEN: &str = "source.given";
/// The status of a token that no longer exists, or never did.
const NO_TOKEN: u16 = 404;
/// Explanation for a token that arrived too late.
const TOO_LATE: &str =
    "the token expired before it was used: it is valid for five minutes; open the link again";
/// Explanation for a token that the service does not know: it was used, or has expired.
const TOKEN_UNKNOWN: &str = "the one-time token was used or has expired: supply another one";
/// Explanation for a method that was saved from its document.
const WRITTEN_BEFORE: &str = "the saved details came from the document; to keep them beside the new ones, raise \
                              reckon.dev/generation";

/// Returns whether a payer gives the details of the method.
pub(crate) fn is_intake(spec: &Value) -> bool {
    spec.get("source").is_some_and(|source| source == INTAKE)
}

/// Returns the applied state under the document's own generation; `None` before the first one.
pub(crate) fn applied_state<'a>(
    manifest: &Manifest,
    have: Option<&'a Observed>,
) -> Option<&'a AppliedSpec> {
    let applied = have.filter(|have| have.exists)?.applied.as_ref()?;
    (applied.generation >= manifest.annotations.generation).then_some(applied)
}

/// Returns the identity of the details that a payer gave, from an applied spec; `None` if a payer
/// gave none.
pub(crate) fn given_details(applied: &Value) -> Option<&Value> {
    applied.get(GIVEN)
}

/// Returns the details that a method awaits from its payer, and the reason why the latest token
/// failed, if one did.
pub(crate) fn awaited_intake(
    manifest: &Manifest,
    have: Option<&Observed>,
    now: DateTime<Utc>,
) -> AwaitedDetails {
    let trouble = attached_token(manifest, have, now).err().flatten();
    let written = |applied: &AppliedSpec| !is_intake(&applied.spec);
    let replaced = applied_state(manifest, have);
    let before = replaced.is_some_and(written).then(|| WRITTEN_BEFORE.to_owned());
    AwaitedDetails {
        key: manifest.key.clone(),
        method_type: source(&manifest.spec).method_type.word(),
        failure: trouble.or(before),
        replaces: replaced.is_some(),
    }
}

/// Returns the supplied token while it may be sent.
///
/// # Errors
///
/// The details for which the method waits.
pub(super) fn usable_token(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: Option<&Observed>,
) -> Result<SuppliedToken, Reason> {
    let waits = |_| Reason::AwaitsIntake(Box::new(awaited_intake(manifest, have, cx.now)));
    attached_token(manifest, have, cx.now).map_err(waits)
}

/// Returns the document with the identity of the details: those of a newly supplied token, else
/// those saved.
pub(super) fn with_given_details<'a>(
    cx: &StepCx<'_>,
    manifest: &'a Manifest,
    have: Option<&Observed>,
) -> Cow<'a, Manifest> {
    if !is_intake(&manifest.spec) {
        return Cow::Borrowed(manifest);
    }
    let saved =
        || applied_state(manifest, have).and_then(|applied| given_details(&applied.spec).cloned());
    let brought = attached_token(manifest, have, cx.now).ok();
    let details =
        brought.map(|brought| SuppliedToken::details_marker(brought.digest)).or_else(saved);
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
fn attached_token(
    manifest: &Manifest,
    have: Option<&Observed>,
    now: DateTime<Utc>,
) -> Result<SuppliedToken, Option<String>> {
    let generation = manifest.annotations.generation;
    let known = have.and_then(|have| Some((have, SuppliedToken::of(have, generation)?)));
    let Some((have, brought)) = known else { return Err(None) };
    if let Some(refusal) = &have.refusal {
        return Err(Some(refusal_message(refusal)));
    }
    if good_until(&brought) <= now {
        return Err(Some(TOO_LATE.to_owned()));
    }
    Ok(brought)
}

/// Describes the service's refusal of the token to people.
fn refusal_message(refusal: &ServiceRefusal) -> String {
    if refusal.status == NO_TOKEN {
        return TOKEN_UNKNOWN.to_owned();
    }
    format!("the service did not save the details: {}", refusal.problem.sentences())
}
