//! Steps of a saved payment method. It is saved with its mark; its description changes in place,
//! everything else by a fresh token or one from its payer. It is removed only if its document
//! requested that.

use chrono::NaiveDate;
use serde_json::Value;

use super::intake::{is_intake, usable_token, with_given_details};
use super::readback::{BANKS, CARDS};
use super::shape::SavedMethodKind;
use crate::base::id::{Key, RemoteId};
use crate::effects::core::context::EffectContext;
use crate::effects::methods::change::{change_method, renew_by_token, renew_method};
use crate::effects::methods::delete::delete_method;
use crate::effects::methods::method::MethodSource;
use crate::effects::methods::save::{save_by_token, save_method};
use crate::effects::methods::token_create::{FreshToken, create_token};
use crate::kinds::manifest_kind::ManifestKind;
use crate::kinds::planning::object_step::{ObjectEffects, needs_token, plan_object};
use crate::kinds::planning::removal::{deletion_of, effect_context, wait, wait_for_users};
use crate::kinds::planning::step::{
    MERCHANT, StepCx, StepDecision, orphan, ready_state, reference, text,
};
use crate::kinds::planning::{health, overdue};
use crate::kinds::remote::readback::ReadBack;
use crate::kinds::saved_method::source::{method_type, source};
use crate::kinds::schema::kind::SpecSchema;
use crate::model::intents::effect::{Effect, StepWork};
use crate::model::issue::Issue;
use crate::model::manifest::Manifest;
use crate::model::plans::change::PlannedAction;
use crate::model::plans::plan::Reason;
use crate::model::state::health::Health;
use crate::model::state::observed::Observed;

fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> StepDecision {
    let manifest = &*with_given_details(cx, manifest, have);
    let source = source(&manifest.spec);
    let kind = ObjectEffects {
        create: &|new| {
            let merchant = reference(manifest, MERCHANT).unwrap_or_else(|| manifest.key.clone());
            ready_state(cx, &merchant)?;
            if is_intake(&manifest.spec) {
                return Ok(save_by_token(new, source, &usable_token(cx, manifest, have)?));
            }
            require_details(source)?;
            Ok(save_method(new, source))
        },
        change: &|new, target, changes| {
            if needs_token(SavedMethodKind::FIELDS, changes) {
                if is_intake(&manifest.spec) {
                    let brought = usable_token(cx, manifest, have)?;
                    return Ok(renew_by_token(new, source, target, &brought));
                }
                require_details(source)?;
                return renew(new, source, target, have);
            }
            Ok(change_method(new, source, target))
        },
        money: Vec::new(),
        unready: &|_| None,
    };
    let draft = plan_object(cx, SavedMethodKind::FIELDS, manifest, have, &kind);
    if draft.reason == Reason::Renewed && is_intake(&manifest.spec) {
        return StepDecision { reason: Reason::DetailsGiven, ..draft };
    }
    draft
}

/// Checks that the document contains the details, which must be sent.
fn require_details(source: MethodSource<'_>) -> Result<(), Reason> {
    if source.details.is_object() {
        return Ok(());
    }
    let why = "the document lacks the details: write them there, or run `reckon import` once more to keep the saved \
               ones";
    Err(Reason::Unsuitable(why.to_owned()))
}

/// Returns the first or second of two effects: a token of the current document, then the change by
/// that token.
fn renew(
    new: EffectContext,
    source: MethodSource<'_>,
    target: &RemoteId,
    have: Option<&Observed>,
) -> Result<Effect, Reason> {
    let unknown = || Reason::Unsuitable("the saved details are unknown".to_owned());
    let known = have.ok_or_else(unknown)?;
    let applied = known.applied.as_ref().ok_or_else(unknown)?;
    Ok(match FreshToken::of(known, new.applied.digest) {
        Some(token) => renew_method(new, source, target, &token),
        None => create_token(new, source, applied),
    })
}

/// Returns the step of a saved method whose document was removed: the method is deleted if the
/// document requested that and no resource uses it any more.
fn plan_removal(cx: &StepCx<'_>, key: &Key, have: &Observed) -> StepDecision {
    let (Some(applied), Some(target)) = (deletion_of(have), &have.remote_id) else {
        return orphan();
    };
    if let Some(draft) = wait_for_users(cx, key) {
        return draft;
    }
    match effect_context(cx, key, have, applied) {
        Ok(new) => {
            let work =
                Some(StepWork::Effect(delete_method(new, method_type(&applied.spec), target)));
            StepDecision { work, ..StepDecision::idle(PlannedAction::Delete, Reason::Removed) }
        }
        Err(reason) => wait(reason),
    }
}

impl ManifestKind for SavedMethodKind {
    fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> StepDecision {
        step(cx, manifest, have)
    }

    fn plan_removal(cx: &StepCx<'_>, key: &Key, have: &Observed) -> StepDecision {
        plan_removal(cx, key, have)
    }

    fn read_back(spec: &Value) -> Option<&'static ReadBack> {
        match text(spec, "type") {
            "card" => Some(&CARDS),
            "bank" => Some(&BANKS),
            _ => None,
        }
    }

    fn health(cx: &StepCx<'_>, _: Option<&Manifest>, known: &Observed) -> Health {
        health::of_method(known, cx.now)
    }

    fn overdue(spec: &Value, today: NaiveDate) -> Vec<Issue> {
        overdue::card(spec, today)
    }
}
