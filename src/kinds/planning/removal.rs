//! Parts that removals of resources without a document share, for every kind.

use serde_json::Value;

use super::step::{StepCx, StepDecision, mode_of, source_id};
use crate::base::hash::{Digest, sha256};
use crate::base::id::Key;
use crate::effects::core::context::EffectContext;
use crate::kinds::schema::reference::resolve;
use crate::model::manifest::Deletion;
use crate::model::plans::change::PlannedAction;
use crate::model::plans::plan::Reason;
use crate::model::state::observed::{AppliedSpec, Observed};

/// Returns the last applied state, if its document requested that the object be deleted with it.
pub fn deletion_of(have: &Observed) -> Option<&AppliedSpec> {
    have.applied.as_ref().filter(|applied| applied.deletion == Deletion::Delete)
}

/// Returns the inputs that all effects on the resource share, once its merchant is connected.
///
/// # Errors
///
/// The resources for which the removal waits.
pub fn effect_context(
    cx: &StepCx<'_>,
    key: &Key,
    have: &Observed,
    applied: &AppliedSpec,
) -> Result<EffectContext, Reason> {
    let merchant = current_key(cx, &have.merchant);
    let waits = || Reason::WaitsFor(vec![merchant.clone()]);
    let connected = match cx.view.manifest(&merchant) {
        Some(_) => cx.view.is_ready(&merchant),
        None if merchant == *key => have.exists,
        None => {
            let owner = cx.view.observed_state(&merchant);
            owner.is_some_and(|owner| owner.exists && owner.unauthorised.is_none())
        }
    };
    let mode = mode_of(cx.view, &merchant).filter(|_| connected).ok_or_else(waits)?;
    Ok(EffectContext {
        key: key.clone(),
        merchant,
        mode,
        source_id: source_id(cx, key, applied.generation),
        applied: applied.clone(),
        on_doubt: cx.on_doubt,
        account: None,
        web_url: None,
    })
}

/// Returns the decision to leave the resource unchanged until then.
pub fn wait(reason: Reason) -> StepDecision {
    StepDecision { ready: true, ..StepDecision::idle(PlannedAction::Wait, reason) }
}

/// Returns the current name of a resource.
pub fn current_key(cx: &StepCx<'_>, key: &Key) -> Key {
    let mut now = key.clone();
    while let Some(next) = cx.view.observed_state(&now).and_then(|known| known.moved_to.clone()) {
        if *next == *key {
            break;
        }
        now = *next;
    }
    now
}

/// Blocks a removal while `users` with a document remain. Users without a document are removed
/// first, and effects in doubt are settled first.
pub fn wait_for_users(cx: &StepCx<'_>, key: &Key) -> Option<StepDecision> {
    let users = cx.view.users(key);
    if !users.is_empty() {
        return Some(StepDecision::idle(PlannedAction::Blocked, Reason::InUse(users)));
    }
    let mut first = cx.view.removable_users(key);
    first.extend(cx.view.unsettled_keys(key));
    (!first.is_empty()).then(|| wait(Reason::WaitsFor(first)))
}

/// Gives one step of a removal its own digest: a refusal of that step does not affect the others.
pub fn with_step_digest(mut new: EffectContext, word: &str) -> EffectContext {
    new.applied.digest = step_digest(&new.applied, word);
    new
}

/// Returns the digest of that step.
pub fn step_digest(applied: &AppliedSpec, word: &str) -> Digest {
    sha256(&[applied.digest.as_bytes().as_slice(), word.as_bytes()].concat())
}

/// Returns the resource of another kind that the applied spec names in this field.
pub fn referenced_key(key: &Key, applied: &AppliedSpec, field: &str, kind: &str) -> Option<Key> {
    let text = applied.spec.get(field).and_then(Value::as_str)?;
    resolve(kind, text, &key.namespace).ok()
}
