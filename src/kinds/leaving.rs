//! What removals of resources without a document have in common, whatever they mean.

use serde_json::Value;

use crate::base::hash::{Digest, sha256};
use crate::base::id::Key;
use crate::effects::Obligation;
use crate::kinds::reference::resolve;
use crate::kinds::step::{Draft, StepCx, mode_of, source_id};
use crate::model::manifest::Deletion;
use crate::model::observed::{Applied, Observed};
use crate::model::plan::{Reason, Verdict};

/// What its document said last, if that was that the object goes with it.
pub fn going(have: &Observed) -> Option<&Applied> {
    have.applied.as_ref().filter(|applied| applied.deletion == Deletion::Delete)
}

/// What every effect on it has in common, once its merchant can be spoken for. Errors: what it waits for.
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

/// It stays as it is until then.
pub fn waiting(reason: Reason) -> Draft {
    Draft { ready: true, ..Draft::idle(Verdict::Wait, reason) }
}

/// The name that a resource has by now.
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

/// Those of `users` that have a document stop it; those that still go themselves go first, and what is in doubt is
/// settled first.
pub fn used(cx: &StepCx<'_>, key: &Key) -> Option<Draft> {
    let users = cx.view.users(key);
    if !users.is_empty() {
        return Some(Draft::idle(Verdict::Blocked, Reason::InUse(users)));
    }
    let mut first = cx.view.holders(key);
    first.extend(cx.view.unsettled(key));
    (!first.is_empty()).then(|| waiting(Reason::WaitsFor(first)))
}

/// The wish of one step of a removal: a refusal of it says nothing about the others.
pub fn wish(mut new: Obligation, word: &str) -> Obligation {
    new.applied.digest = wished(&new.applied, word);
    new
}

/// The digest of that wish.
pub fn wished(applied: &Applied, word: &str) -> Digest {
    sha256(&[applied.digest.as_bytes().as_slice(), word.as_bytes()].concat())
}

/// The resource of another kind that what was put on the service names in this field.
pub fn named(key: &Key, applied: &Applied, field: &str, kind: &str) -> Option<Key> {
    let text = applied.spec.get(field).and_then(Value::as_str)?;
    resolve(kind, text, &key.namespace).ok()
}
