//! What has to be done about a saved payment method: a card is saved with its mark, its
//! description changes where it is, and it is removed only where its document said so.

use serde_json::Value;

use super::SavedMethod;
use crate::base::hash::SourceId;
use crate::base::id::Key;
use crate::effects::{CardSource, Obligation, change_card, delete_card, save_card};
use crate::kinds::step::{
    Draft, MERCHANT, Object, StepCx, mode_of, needed, object, orphaned, reference,
};
use crate::kinds::{Kind, Shape};
use crate::model::effect::Work;
use crate::model::manifest::{Deletion, Manifest};
use crate::model::observed::Observed;
use crate::model::plan::{Reason, Verdict};

/// The step of a saved method.
fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> Draft {
    let spec = &manifest.spec;
    let kind = Object {
        create: &|new| {
            let merchant = reference(manifest, MERCHANT).unwrap_or_else(|| manifest.key.clone());
            needed(cx, &merchant)?;
            let card = spec.pointer("/source/card").unwrap_or(&Value::Null);
            Ok(save_card(new, CardSource { card, description: spec.get("description") }))
        },
        change: &|new, target, _| Ok(change_card(new, target, spec.get("description"))),
        money: Vec::new(),
        unready: &|_| None,
    };
    object(cx, SavedMethod::FIELDS, manifest, have, &kind)
}

/// The step of a saved method whose document is gone: it is deleted if its document said so and
/// nothing uses it any more.
fn gone(cx: &StepCx<'_>, key: &Key, have: &Observed) -> Draft {
    let Some(applied) = &have.applied else {
        return orphaned();
    };
    let users = cx.view.users(key);
    match (applied.deletion, &have.remote_id) {
        (Deletion::Orphan, _) | (Deletion::Delete, None) => orphaned(),
        (Deletion::Delete, Some(_)) if !users.is_empty() => {
            Draft::idle(Verdict::Blocked, Reason::InUse(users))
        }
        (Deletion::Delete, Some(_)) if !cx.view.ready(&have.merchant) => {
            Draft::idle(Verdict::Wait, Reason::WaitsFor(vec![have.merchant.clone()]))
        }
        (Deletion::Delete, Some(card)) => match mode_of(cx.view, &have.merchant) {
            None => Draft::idle(Verdict::Wait, Reason::WaitsFor(vec![have.merchant.clone()])),
            Some(mode) => {
                let obligation = Obligation {
                    key: key.clone(),
                    merchant: have.merchant.clone(),
                    mode,
                    source_id: SourceId::new(cx.partner, key, applied.generation),
                    applied: applied.clone(),
                    on_doubt: cx.on_doubt,
                };
                let work = Some(Work::Effect(delete_card(obligation, card)));
                Draft { work, ..Draft::idle(Verdict::Delete, Reason::Removed) }
            }
        },
    }
}

impl Kind for SavedMethod {
    fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> Draft {
        step(cx, manifest, have)
    }

    fn gone(cx: &StepCx<'_>, key: &Key, have: &Observed) -> Draft {
        gone(cx, key, have)
    }
}
