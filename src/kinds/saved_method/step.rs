//! Steps of a saved payment method. It is saved with its mark; its description changes in place,
//! everything else by a fresh token or one from its payer. It is removed only if its document
//! requested that.

use chrono::NaiveDate;
use serde_json::Value;

use super::SavedMethod;
use super::intake::{brought, compared, is_intake};
use crate::base::id::{Key, RemoteId};
use crate::effects::{
    FreshToken, MethodSort, MethodSource, Obligation, change_method, create_token, delete_method,
    renew_by_token, renew_method, save_by_token, save_method,
};
use crate::kinds::leaving::{going, obligation, used, waiting};
use crate::kinds::readback::ReadBack;
use crate::kinds::step::{
    Draft, MERCHANT, Object, StepCx, by_token, needed, object, orphaned, reference, text,
};
use crate::kinds::{Kind, Shape, health, overdue};
use crate::model::effect::{Effect, Work};
use crate::model::health::Health;
use crate::model::issue::Issue;
use crate::model::manifest::Manifest;
use crate::model::observed::Observed;
use crate::model::plan::{Reason, Verdict};

fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> Draft {
    let manifest = &*compared(cx, manifest, have);
    let source = source(&manifest.spec);
    let kind = Object {
        create: &|new| {
            let merchant = reference(manifest, MERCHANT).unwrap_or_else(|| manifest.key.clone());
            needed(cx, &merchant)?;
            if is_intake(&manifest.spec) {
                return Ok(save_by_token(new, source, &brought(cx, manifest, have)?));
            }
            at_hand(source)?;
            Ok(save_method(new, source))
        },
        change: &|new, target, changes| {
            if by_token(SavedMethod::FIELDS, changes) {
                if is_intake(&manifest.spec) {
                    let brought = brought(cx, manifest, have)?;
                    return Ok(renew_by_token(new, source, target, &brought));
                }
                at_hand(source)?;
                return renewal(new, source, target, have);
            }
            Ok(change_method(new, source, target))
        },
        money: Vec::new(),
        unready: &|_| None,
    };
    let draft = object(cx, SavedMethod::FIELDS, manifest, have, &kind);
    if draft.reason == Reason::Renewed && is_intake(&manifest.spec) {
        return Draft { reason: Reason::Given, ..draft };
    }
    draft
}

/// Checks that the document contains the details, which must be sent.
fn at_hand(source: MethodSource<'_>) -> Result<(), Reason> {
    if source.details.is_object() {
        return Ok(());
    }
    let why = "its details are not in its document: write them there, or say `reckon import` once more to leave what is \
               saved as it is";
    Err(Reason::Unfit(why.to_owned()))
}

/// Returns the data from which a spec's method is created.
pub(in crate::kinds) fn source(spec: &Value) -> MethodSource<'_> {
    let sort = sort(spec);
    let place = match sort {
        MethodSort::Card => "/source/card",
        MethodSort::Bank => "/source/bank",
    };
    let details = spec.pointer(place).unwrap_or(&Value::Null);
    MethodSource { sort, details, description: spec.get("description") }
}

fn sort(spec: &Value) -> MethodSort {
    if text(spec, "type") == "bank" { MethodSort::Bank } else { MethodSort::Card }
}

/// Returns the first or second of two effects: a token of the current document, then the change by
/// that token.
fn renewal(
    new: Obligation,
    source: MethodSource<'_>,
    target: &RemoteId,
    have: Option<&Observed>,
) -> Result<Effect, Reason> {
    let unknown = || Reason::Unfit("what was saved before is not known".to_owned());
    let known = have.ok_or_else(unknown)?;
    let applied = known.applied.as_ref().ok_or_else(unknown)?;
    Ok(match FreshToken::of(known, new.applied.digest) {
        Some(token) => renew_method(new, source, target, &token),
        None => create_token(new, source, applied),
    })
}

/// Returns the step of a saved method whose document was removed: the method is deleted if the
/// document requested that and no resource uses it any more.
fn gone(cx: &StepCx<'_>, key: &Key, have: &Observed) -> Draft {
    let (Some(applied), Some(target)) = (going(have), &have.remote_id) else {
        return orphaned();
    };
    if let Some(draft) = used(cx, key) {
        return draft;
    }
    match obligation(cx, key, have, applied) {
        Ok(new) => {
            let work = Some(Work::Effect(delete_method(new, sort(&applied.spec), target)));
            Draft { work, ..Draft::idle(Verdict::Delete, Reason::Removed) }
        }
        Err(reason) => waiting(reason),
    }
}

impl Kind for SavedMethod {
    fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> Draft {
        step(cx, manifest, have)
    }

    fn gone(cx: &StepCx<'_>, key: &Key, have: &Observed) -> Draft {
        gone(cx, key, have)
    }

    fn read_back(spec: &Value) -> Option<&'static ReadBack> {
        super::readback::read_back(spec)
    }

    fn health(cx: &StepCx<'_>, _: Option<&Manifest>, known: &Observed) -> Health {
        health::of_method(known, cx.now)
    }

    fn overdue(spec: &Value, today: NaiveDate) -> Vec<Issue> {
        overdue::card(spec, today)
    }
}
