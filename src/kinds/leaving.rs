//! Parts that removals of resources without a document share, for every kind.

use serde_json::Value;

use crate::base::hash::{Digest, sha256};
use crate::base::id::Key;
use crate::effects::Obligation;
use crate::kinds::reference::resolve;
use crate::kinds::step::{Draft, StepCx, mode_of, source_id};
use crate::model::manifest::Deletion;
use crate::model::observed::{Applied, Observed};
use crate::model::plan::{Reason, Verdict};

/// Returns the last applied state, if its document requested that the object be deleted with it.
pub fn going(have: &Observed) -> Option<&Applied> {
    have.applied.as_ref().filter(|applied| applied.deletion == Deletion::Delete)
}

/// Returns the inputs that all effects on the resource share, once its merchant is connected.
///
/// # Errors
///
/// The resources for which the removal waits.
pub fn obligation(
    cx: &StepCx<'_>,
    key: &Key,
    have: &Observed,
    applied: &Applied,
) -> Result<Obligation, Reason> {
    let merchant = current(cx, &have.merchant);
    let waits = || Reason::WaitsFor(vec![merchant.clone()]);
    let connected = match cx.view.manifest(&merchant) {
        Some(_) => cx.view.ready(&merchant),
        None if merchant == *key => have.exists,
        None => {
            let owner = cx.view.observed(&merchant);
            owner.is_some_and(|owner| owner.exists && owner.unauthorised.is_none())
        }
    };
    let mode = mode_of(cx.view, &merchant).filter(|_| connected).ok_or_else(waits)?;
    Ok(Obligation {
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
pub fn waiting(reason: Reason) -> Draft {
    Draft { ready: true, ..Draft::idle(Verdict::Wait, reason) }
}

/// Returns the current name of a resource.
pub fn current(cx: &StepCx<'_>, key: &Key) -> Key {
    let mut now = key.clone();
    while let Some(next) = cx.view.observed(&now).and_then(|known| known.moved_to.clone()) {
        if *next == *key {
            break;
        }
        now = *next;
    }
    now
}

/// Blocks a removal while `users` with a document remain. Users without a document are removed
/// first, and effects in doubt are settled first.
pub fn used(cx: &StepCx<'_>, key: &Key) -> Option<Draft> {
    let users = cx.view.users(key);
    if !users.is_empty() {
        return Some(Draft::idle(Verdict::Blocked, Reason::InUse(users)));
    }
    let mut first = cx.view.holders(key);
    first.extend(cx.view.unsettled(key));
    (!first.is_empty()).then(|| waiting(Reason::WaitsFor(first)))
}

/// Gives one step of a removal its own digest: a refusal of that step does not affect the others.
pub fn wish(mut new: Obligation, word: &str) -> Obligation {
    new.applied.digest = wished(&new.applied, word);
    new
}

/// Returns the digest of that step.
pub fn wished(applied: &Applied, word: &str) -> Digest {
    sha256(&[applied.digest.as_bytes().as_slice(), word.as_bytes()].concat())
}

/// Returns the resource of another kind that the applied spec names in this field.
pub fn named(key: &Key, applied: &Applied, field: &str, kind: &str) -> Option<Key> {
    let text = applied.spec.get(field).and_then(Value::as_str)?;
    resolve(kind, text, &key.namespace).ok()
}
