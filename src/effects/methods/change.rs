//! Changes a saved card or bank (gateway-api, PATCH /v1/cards/{cardId}, PATCH /v1/banks/{bankId}):
//! its description in place, everything else by a token. The token is a fresh one of a document's
//! details, or one from a payer's page.
//!
//! The object can be read, and the change is absolute: a lookup settles a lost answer. A token's
//! replacement is only partly visible, since names and addresses are in no journal. Such a change
//! therefore counts as applied only if the object was modified since the read just before it. A
//! person may set the texts of an object that no document manages.

use serde_json::{Map, Value, json};

use super::method::{
    BankEndpoints, CardEndpoints, MethodEndpoints, MethodSource, PaymentMethodType, learn,
    read_target,
};
use super::save::single_use;
use super::token_create::FreshToken;
use crate::base::id::RemoteId;
use crate::effects::core::context::{EffectBuilder, EffectContext, put};
use crate::effects::core::evidence::modified_time;
use crate::effects::core::expect;
use crate::effects::core::row::{
    Baseline, EffectRow, Isolation, LookupResult, RemoteAnswer, RemoteQuery, accept_any,
};
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::{Intent, StoredBody};
use crate::model::operator::token_attachment::SuppliedToken;

/// Sets the description of a saved method in place; a missing one becomes empty.
pub fn change_method(
    obligation: EffectContext,
    source: MethodSource<'_>,
    target: &RemoteId,
) -> Effect {
    match source.method_type {
        PaymentMethodType::Card => change::<CardEndpoints>(obligation, source, target),
        PaymentMethodType::Bank => change::<BankEndpoints>(obligation, source, target),
    }
}

/// Sets only the texts in `set` of a saved method; an empty text removes it.
pub fn set_method(
    obligation: EffectContext,
    sort: PaymentMethodType,
    target: &RemoteId,
    set: Map<String, Value>,
) -> Effect {
    match sort {
        PaymentMethodType::Card => set_texts::<CardEndpoints>(obligation, target, set),
        PaymentMethodType::Bank => set_texts::<BankEndpoints>(obligation, target, set),
    }
}

fn set_texts<S: MethodEndpoints>(
    obligation: EffectContext,
    target: &RemoteId,
    set: Map<String, Value>,
) -> Effect {
    let asked = set.clone();
    let body = Value::Object(set);
    let effect =
        obligation.effect::<S::Patch>(S::CHANGE, &[target.as_str()], body).targeting(target);
    let effect = effect.expecting("id", target.as_str());
    asked
        .into_iter()
        .filter(|(_, value)| *value != json!(""))
        .fold(effect, |effect, (field, value)| effect.expecting(&field, value))
}

/// Replaces everything in a saved method with the details that a fresh token holds.
pub fn renew_method(
    obligation: EffectContext,
    source: MethodSource<'_>,
    target: &RemoteId,
    token: &FreshToken,
) -> Effect {
    let mut effect = change_method(obligation, source, target);
    put(&mut effect.request.body, "token_id", json!({"$sealed": token.sealed}));
    let effect = effect.with_sealed_body().with_single_use(token.single_use());
    source.expect_visible(effect.expecting("fingerprint", token.fingerprint.clone()))
}

/// Replaces everything in a saved method with the details of a token that was supplied for this
/// method.
pub fn renew_by_token(
    obligation: EffectContext,
    source: MethodSource<'_>,
    target: &RemoteId,
    brought: &SuppliedToken,
) -> Effect {
    let mut effect = change_method(obligation, source, target);
    put(&mut effect.request.body, "token_id", json!({"$sealed": brought.sealed}));
    effect.with_sealed_body().with_single_use(single_use(brought))
}

fn change<S: MethodEndpoints>(
    obligation: EffectContext,
    source: MethodSource<'_>,
    target: &RemoteId,
) -> Effect {
    let description = source.description.cloned().unwrap_or_else(|| json!(""));
    let mark = json!(obligation.source_id.mark());
    let body = json!({"description": description, "reference": mark});
    let asked = if description == json!("") { Value::Null } else { description };
    obligation
        .effect::<S::Patch>(S::CHANGE, &[target.as_str()], body)
        .targeting(target)
        .expecting("id", target.as_str())
        .expecting("description", asked)
        .expecting("reference", mark)
}

/// Reads when the object was last modified, for a change that nothing else shows.
fn before<S: MethodEndpoints>(effect: &Effect) -> Vec<RemoteQuery> {
    if effect.sealed { vec![read_target::<S>(effect.target.as_ref())] } else { Vec::new() }
}

fn queries<S: MethodEndpoints>(intent: &Intent) -> Vec<RemoteQuery> {
    vec![read_target::<S>(intent.target.as_ref())]
}

fn judge<S: MethodEndpoints>(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    match answers.first() {
        Some(RemoteAnswer::Body(object)) if is_applied(intent, object) => {
            LookupResult::Applied(object.clone())
        }
        Some(RemoteAnswer::Body(_)) => LookupResult::NotFound,
        // A removed object cannot be changed: the next attempt gets that answer.
        Some(answer @ RemoteAnswer::Missing(_)) if !answer.is_unknown_path() => {
            LookupResult::NotFound
        }
        Some(RemoteAnswer::Missing(_) | RemoteAnswer::Items(_)) | None => {
            LookupResult::Inconclusive(format!("the {} cannot be read back", S::WORD))
        }
    }
}

/// Returns whether every visible field is as requested; for a token, also whether the object was
/// modified since the read before it. In doubt the change is sent again: it is absolute.
fn is_applied(intent: &Intent, object: &Value) -> bool {
    let by_token = matches!(intent.request.body, StoredBody::Sealed { .. });
    let untouched = object.get("modified") == intent.baseline.get("modified");
    expect::mismatches(&intent.expect, object).is_empty() && !(by_token && untouched)
}

const fn row<S: MethodEndpoints>() -> EffectRow {
    EffectRow::looked_up(S::CHANGE, Isolation::PerObject, queries::<S>, judge::<S>, learn)
        .with_baseline(Baseline { queries: before::<S>, keep: modified_time, refuse: accept_any })
}

pub(crate) const CARD: EffectRow = row::<CardEndpoints>();
pub(crate) const BANK: EffectRow = row::<BankEndpoints>();
