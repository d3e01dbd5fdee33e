//! Changes a saved card or bank (gateway-api, PATCH /v1/cards/{cardId}, PATCH /v1/banks/{bankId}):
//! its description in place, everything else by a token. The token is a fresh one of a document's
//! details, or one from a payer's page.
//!
//! The object can be read, and the change is absolute: a lookup settles a lost answer. A token's
//! replacement is only partly visible, since names and addresses are in no journal. Such a change
//! therefore counts as applied only if the object was modified since the read just before it. A
//! person may set the texts of an object that no document manages.

use serde_json::{Map, Value, json};

use super::evidence::modified;
use super::method::{Banks, Cards, MethodSort, MethodSource, Sort, learn, read_target};
use super::method_save::once;
use super::register::{
    Absent, Answer, Baseline, Doubt, EffectRow, Finding, Lane, Query, Search, fits, nothing,
};
use super::token_create::FreshToken;
use super::{Obligation, Shaped, expect, put};
use crate::base::id::RemoteId;
use crate::model::attachment::Brought;
use crate::model::effect::Effect;
use crate::model::intent::{Intent, StoredBody};

/// Sets the description of a saved method in place; a missing one becomes empty.
pub fn change_method(
    obligation: Obligation,
    source: MethodSource<'_>,
    target: &RemoteId,
) -> Effect {
    match source.sort {
        MethodSort::Card => change::<Cards>(obligation, source, target),
        MethodSort::Bank => change::<Banks>(obligation, source, target),
    }
}

/// Sets only the texts in `set` of a saved method; an empty text removes it.
pub fn set_method(
    obligation: Obligation,
    sort: MethodSort,
    target: &RemoteId,
    set: Map<String, Value>,
) -> Effect {
    match sort {
        MethodSort::Card => set_texts::<Cards>(obligation, target, set),
        MethodSort::Bank => set_texts::<Banks>(obligation, target, set),
    }
}

fn set_texts<S: Sort>(
    obligation: Obligation,
    target: &RemoteId,
    set: Map<String, Value>,
) -> Effect {
    let asked = set.clone();
    let body = Value::Object(set);
    let effect = obligation.effect::<S::Patch>(S::CHANGE, &[target.as_str()], body).on(target);
    let effect = effect.expecting("id", target.as_str());
    asked
        .into_iter()
        .filter(|(_, value)| *value != json!(""))
        .fold(effect, |effect, (field, value)| effect.expecting(&field, value))
}

/// Replaces everything in a saved method with the details that a fresh token holds.
pub fn renew_method(
    obligation: Obligation,
    source: MethodSource<'_>,
    target: &RemoteId,
    token: &FreshToken,
) -> Effect {
    let mut effect = change_method(obligation, source, target);
    put(&mut effect.request.body, "token_id", json!({"$sealed": token.sealed}));
    let effect = effect.sealed().using(token.once());
    source.asked(effect.expecting("fingerprint", token.fingerprint.clone()))
}

/// Replaces everything in a saved method with the details of a token that was supplied for this
/// method.
pub fn renew_by_token(
    obligation: Obligation,
    source: MethodSource<'_>,
    target: &RemoteId,
    brought: &Brought,
) -> Effect {
    let mut effect = change_method(obligation, source, target);
    put(&mut effect.request.body, "token_id", json!({"$sealed": brought.sealed}));
    effect.sealed().using(once(brought))
}

fn change<S: Sort>(obligation: Obligation, source: MethodSource<'_>, target: &RemoteId) -> Effect {
    let description = source.description.cloned().unwrap_or_else(|| json!(""));
    let mark = json!(obligation.source_id.mark());
    let body = json!({"description": description, "reference": mark});
    let asked = if description == json!("") { Value::Null } else { description };
    obligation
        .effect::<S::Patch>(S::CHANGE, &[target.as_str()], body)
        .on(target)
        .expecting("id", target.as_str())
        .expecting("description", asked)
        .expecting("reference", mark)
}

/// Reads when the object was last modified, for a change that nothing else shows.
fn before<S: Sort>(effect: &Effect) -> Vec<Query> {
    if effect.sealed { vec![read_target::<S>(effect.target.as_ref())] } else { Vec::new() }
}

fn queries<S: Sort>(intent: &Intent) -> Vec<Query> {
    vec![read_target::<S>(intent.target.as_ref())]
}

fn judge<S: Sort>(intent: &Intent, answers: &[Answer]) -> Finding {
    match answers.first() {
        Some(Answer::Body(object)) if happened(intent, object) => Finding::Happened(object.clone()),
        Some(Answer::Body(_)) => Finding::Absent,
        // A removed object cannot be changed: the next attempt gets that answer.
        Some(answer @ Answer::Missing(_)) if !answer.unknown_path() => Finding::Absent,
        Some(Answer::Missing(_) | Answer::Items(_)) | None => {
            Finding::Unknown(format!("the {} cannot be read back", S::WORD))
        }
    }
}

/// Returns whether every visible field is as requested; for a token, also whether the object was
/// modified since the read before it. In doubt the change is sent again: it is absolute.
fn happened(intent: &Intent, object: &Value) -> bool {
    let by_token = matches!(intent.request.body, StoredBody::Sealed { .. });
    let untouched = object.get("modified") == intent.baseline.get("modified");
    expect::mismatches(&intent.expect, object).is_empty() && !(by_token && untouched)
}

const fn row<S: Sort>() -> EffectRow {
    let search = Search { queries: queries::<S>, judge: judge::<S>, absent: Absent::Again };
    EffectRow {
        name: S::CHANGE,
        doubt: Doubt::Search(search),
        baseline: Some(Baseline { queries: before::<S>, keep: modified, refuse: fits }),
        lane: Lane::Target,
        learn,
        proves: nothing,
    }
}

pub(super) const CARD: EffectRow = row::<Cards>();
pub(super) const BANK: EffectRow = row::<Banks>();
