//! Folds records that change the observed state of a resource: renames, missing documents, attached
//! tokens, refused credentials, payments, the ownership of public keys, adoption and forgetting, and
//! objects with unknown marks of ours.
//!
//! A resource blocked by an unknown object of ours continues once that is assigned or disowned.
//!
//! A rename moves the observed state to the new name. The old name is used up: it stays on the
//! service as the name of the moved object. The fold refuses a rename over an existing resource, or
//! while an intent is open for either name, since that would lose something.
//!
//! A public key belongs to the merchant that read it first. The fold orders the readings, so it
//! decides which merchant was first. A merchant that reads another merchant's public key gets that
//! merchant as its `rival`, and owns none of the keys that it read.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::base::id::{Key, PublicKey, RemoteId};
use crate::effects::core::context::set_field;
use crate::model::effect::is_action;
use crate::model::events::event::VerifiedEvent;
use crate::model::remote_object::Freshness;
use crate::model::state::credentials::{CredentialsRefused, MerchantBinding};
use crate::model::state::drift::{Adoption, Disowned, Forgotten};
use crate::model::state::health::Payments;
use crate::model::state::observed::{FactSource, Observed};
use crate::model::state::orphan::{
    MissingDocument, MissingDocumentChange, MissingDocumentRecord, MovedRecord, UnknownObjectsFound,
};
use crate::model::state::token_attachment::{ATTACHED, TokenAttachment};
use crate::store::error::{Folded, law};
use crate::store::read_model::model::{Changes, Entries};
use crate::store::read_model::resources::{
    DISOWNED, MARKS, OBSERVED, OPEN_BY_KEY, PUBLIC_KEYS, SUSPENDED, UNKNOWN_OBJECTS,
};

/// Changes the observed state of a resource; an unknown one belongs to this merchant.
pub(crate) fn change_observed(
    changes: &mut Changes<'_>,
    key: &Key,
    (merchant, at): (&Key, DateTime<Utc>),
    change: impl FnOnce(&mut Observed),
) -> Folded {
    let known = OBSERVED.get(changes, key)?;
    let mut known = known.unwrap_or_else(|| Observed::unknown(merchant.clone(), at));
    change(&mut known);
    Ok(OBSERVED.put(changes, key, &known)?)
}

pub(crate) fn move_resource(changes: &mut Changes<'_>, record: &MovedRecord) -> Folded {
    let MovedRecord { from, to, at, commit: _ } = record;
    for key in [from, to] {
        if let Some(open) = OPEN_BY_KEY.get(changes, key)? {
            return law!(5, "{from} is moved to {to} while {open} is open for {key}");
        }
    }
    let new = OBSERVED.get(changes, to)?;
    let Some(mut known) = OBSERVED.get(changes, from)?.filter(|old| old.exists) else {
        return law!(5, "{from} is moved to {to}, and nothing is known of it");
    };
    if new.is_some_and(|new| new.exists) {
        return law!(5, "{from} is moved to {to}, which is there itself");
    }
    known.former.push(from.clone());
    known.missing_document = None;
    if known.merchant == *from {
        known.merchant = to.clone();
    }
    for key in known.merchant_binding().into_iter().flat_map(|bound| bound.public_keys) {
        PUBLIC_KEYS.put(changes, key.as_str(), to)?;
    }
    let gone = Observed {
        moved_to: Some(Box::new(to.clone())),
        ..Observed::unknown(known.merchant.clone(), *at)
    };
    OBSERVED.put(changes, to, &known)?;
    Ok(OBSERVED.put(changes, from, &gone)?)
}

/// Folds an observation or a person's decision about a missing document. The first mark is kept.
pub(crate) fn fold_missing_document(
    changes: &mut Changes<'_>,
    record: &MissingDocumentRecord,
) -> Folded {
    let MissingDocumentRecord { key, change: said } = record;
    change_observed(changes, key, (key, said.time()), |known| {
        let before = known.missing_document.take().map(|absence| *absence).unwrap_or_default();
        let MissingDocument { marked, allowed } = before;
        known.missing_document = match said {
            MissingDocumentChange::Marked(mark) => {
                Some(MissingDocument { marked: marked.or_else(|| Some(mark.clone())), allowed })
            }
            MissingDocumentChange::Allowed(word) => {
                Some(MissingDocument { marked, allowed: Some(word.clone()) })
            }
            MissingDocumentChange::Returned { at: _ } => None,
        }
        .map(Box::new);
    })
}

pub(crate) fn attach_token(changes: &mut Changes<'_>, attachment: &TokenAttachment) -> Folded {
    let TokenAttachment { key, merchant, at, .. } = attachment;
    change_observed(changes, key, (merchant, *at), |known| {
        set_field(&mut known.facts, ATTACHED, attachment.fact());
        known.refusal = None;
        known.at = known.at.max(*at);
        known.source = FactSource::Operator;
    })
}

/// Applies an event to the payments of its resources, if the event shows a newer version.
pub(crate) fn apply_payment(changes: &mut Changes<'_>, told: &VerifiedEvent) -> Folded {
    let Some(object) = told.object.as_ref().filter(|_| told.freshness == Freshness::Newer) else {
        return Ok(());
    };
    for key in told.resources.iter().filter(|key| !is_action(key)) {
        let Some(mut known) = OBSERVED.get(changes, key)? else { continue };
        let before = known.payments.as_deref();
        let Some(now) = Payments::after_event(before, object, told.previous.as_ref(), told.at)
        else {
            continue;
        };
        known.payments = Some(Box::new(now));
        OBSERVED.put(changes, key, &known)?;
    }
    Ok(())
}

/// Notes the refusal at the merchant; the credentials' next success ends it.
pub(crate) fn refuse_credentials(changes: &mut Changes<'_>, record: &CredentialsRefused) -> Folded {
    let (key, refusal) = (&record.merchant, &record.credentials);
    change_observed(changes, key, (key, refusal.at), |known| {
        known.unauthorised = Some(Box::new(refusal.clone()));
    })
}

/// Makes the merchant own all or none of its public keys, and releases those that it no longer has.
pub(crate) fn assign_keys(
    changes: &mut Changes<'_>,
    merchant: &Key,
    before: Option<&MerchantBinding>,
    known: &mut Observed,
) -> Folded {
    let after = known.merchant_binding().map_or_else(BTreeSet::new, |bound| bound.public_keys);
    let before = before.into_iter().flat_map(|bound| &bound.public_keys);
    for gone in before.filter(|key| !after.contains(*key)) {
        if PUBLIC_KEYS.get(changes, gone.as_str())?.as_ref() == Some(merchant) {
            PUBLIC_KEYS.remove(changes, gone.as_str());
        }
    }
    known.rival = rival(changes, merchant, &after)?.map(Box::new);
    if known.rival.is_none() {
        for key in &after {
            PUBLIC_KEYS.put(changes, key.as_str(), merchant)?;
        }
    }
    Ok(())
}

/// Returns another merchant that owns one of these public keys.
fn rival(entries: &impl Entries, own: &Key, keys: &BTreeSet<PublicKey>) -> Folded<Option<Key>> {
    for key in keys {
        let other = PUBLIC_KEYS.get(entries, key.as_str())?.filter(|owner| owner != own);
        if other.is_some() {
            return Ok(other);
        }
    }
    Ok(None)
}

/// Assigns an object to a resource. The observed state of an earlier object is discarded.
pub(crate) fn adopt(changes: &mut Changes<'_>, adoption: &Adoption) -> Folded {
    let fact = &adoption.fact;
    refuse_if_open(changes, &fact.key, "taken over")?;
    let mut known = Observed::unknown(fact.merchant.clone(), fact.at);
    if let Some(before) = OBSERVED.get(changes, &fact.key)? {
        remove_blocking_entries(changes, &before);
        (known.former, known.recreated) = (before.former, before.recreated);
    }
    known.apply(fact);
    OBSERVED.put(changes, &fact.key, &known)?;
    if let Some(mark) = &adoption.mark {
        MARKS.put(changes, mark.as_str(), &fact.key)?;
    }
    let Some(id) = &fact.remote_id else { return Ok(()) };
    DISOWNED.remove(changes, id.as_str());
    unblock(changes, id)
}

/// Stops managing a resource. Its object is ignored from then on, with any mark.
pub(crate) fn forget_resource(changes: &mut Changes<'_>, forgotten: &Forgotten) -> Folded {
    let key = &forgotten.key;
    refuse_if_open(changes, key, "forgotten")?;
    if let Some(known) = OBSERVED.get(changes, key)? {
        remove_blocking_entries(changes, &known);
        for public in known.merchant_binding().into_iter().flat_map(|bound| bound.public_keys) {
            if PUBLIC_KEYS.get(changes, public.as_str())?.as_ref() == Some(key) {
                PUBLIC_KEYS.remove(changes, public.as_str());
            }
        }
    }
    OBSERVED.remove(changes, key);
    SUSPENDED.remove(changes, key);
    let Some(id) = &forgotten.remote_id else { return Ok(()) };
    Ok(DISOWNED.put(changes, id.as_str(), &forgotten.at)?)
}

pub(crate) fn disown(changes: &mut Changes<'_>, disowned: &Disowned) -> Folded {
    DISOWNED.put(changes, disowned.remote_id.as_str(), &disowned.at)?;
    unblock(changes, &disowned.remote_id)
}

/// Replaces the set of objects that block a resource; an empty set unblocks it.
pub(crate) fn set_unknown_objects(changes: &mut Changes<'_>, seen: &UnknownObjectsFound) -> Folded {
    if let Some(known) = OBSERVED.get(changes, &seen.key)? {
        remove_blocking_entries(changes, &known);
    }
    for stray in &seen.found {
        UNKNOWN_OBJECTS.put(changes, stray.id.as_str(), &seen.key)?;
    }
    change_observed(changes, &seen.key, (&seen.merchant, seen.at), |known| {
        known.unknown_objects.clone_from(&seen.found);
    })
}

/// Applies the declaration that nothing at the service is ours: no unknown mark blocks a resource.
pub(crate) fn clear_unknown_marks(changes: &mut Changes<'_>) -> Folded {
    for id in UNKNOWN_OBJECTS.keys(changes)? {
        let Some(holder) = UNKNOWN_OBJECTS.get(changes, &id)? else { continue };
        let Some(mut known) = OBSERVED.get(changes, &holder)? else { continue };
        remove_blocking_entries(changes, &known);
        known.unknown_objects.retain(|stray| stray.is_duplicate);
        for stray in &known.unknown_objects {
            UNKNOWN_OBJECTS.put(changes, stray.id.as_str(), &holder)?;
        }
        OBSERVED.put(changes, &holder, &known)?;
    }
    Ok(())
}

fn unblock(changes: &mut Changes<'_>, id: &RemoteId) -> Folded {
    let Some(holder) = UNKNOWN_OBJECTS.get(changes, id.as_str())? else { return Ok(()) };
    UNKNOWN_OBJECTS.remove(changes, id.as_str());
    let Some(mut known) = OBSERVED.get(changes, &holder)? else { return Ok(()) };
    known.unknown_objects.retain(|stray| stray.id != *id);
    Ok(OBSERVED.put(changes, &holder, &known)?)
}

fn remove_blocking_entries(changes: &mut Changes<'_>, known: &Observed) {
    for stray in &known.unknown_objects {
        UNKNOWN_OBJECTS.remove(changes, stray.id.as_str());
    }
}

/// Law 5: refuses to adopt or forget a resource with an open intent.
fn refuse_if_open(entries: &impl Entries, key: &Key, what: &str) -> Folded {
    let Some(open) = OPEN_BY_KEY.get(entries, key)? else { return Ok(()) };
    law!(5, "{key} is {what} while {open} is open")
}

#[cfg(test)]
mod adoption_tests;
#[cfg(test)]
mod tests;
