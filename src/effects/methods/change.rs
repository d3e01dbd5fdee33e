//! Changes and removes a saved card or bank (gateway-api, PATCH and DELETE of /v1/cards/{cardId}
//! and /v1/banks/{bankId}): its description in place, everything else by a token. The token is a
//! fresh one of a document's details, or one from a payer's page. A removed method can no longer
//! pay.
//!
//! The object can be read, and the change is absolute: a lookup settles a lost answer. A token's
//! replacement is only partly visible, since names and addresses are in no journal. Such a change
//! therefore counts as applied only if the object was modified since the read just before it. A
//! person may set the texts of an object that no document manages. A method that is not found
//! counts as removed, whatever removed it. A command that deletes a method is then done.

use serde_json::{Map, Value, json};

use crate::api::saved_method::{DeleteBank, DeleteCard};
use crate::base::id::RemoteId;
use crate::effects::core::context::{EffectContext, set_field};
use crate::effects::core::evidence::{judge_object, modified_time, shows_change};
use crate::effects::core::row::{
    Baseline, EffectRow, Isolation, Learned, LookupResult, ProvenState, RemoteAnswer, RemoteQuery,
    accept_any,
};
use crate::effects::methods::save::{FreshToken, single_use};
use crate::effects::methods::{
    BankEndpoints, CardEndpoints, MethodEndpoints, MethodSource, PaymentMethodType, cleared_token,
    learn, read_target,
};
use crate::model::effect::{Effect, SingleUse, is_action};
use crate::model::intent::Intent;
use crate::model::state::token_attachment::SuppliedToken;

/// Sets the description of a saved method in place; a missing one becomes empty.
pub fn change_method(cx: EffectContext, source: MethodSource<'_>, target: &RemoteId) -> Effect {
    let description = source.description.cloned().unwrap_or_else(|| json!(""));
    let mark = json!(cx.source_id.mark());
    let body = json!({"description": description, "reference": mark});
    let asked = if description == json!("") { Value::Null } else { description };
    let effect = source.method_type.change(cx, target, body);
    effect.expecting("description", asked).expecting("reference", mark)
}

/// Sets only the texts in `set` of a saved method; an empty text removes it.
pub fn set_method(
    cx: EffectContext,
    method_type: PaymentMethodType,
    target: &RemoteId,
    set: Map<String, Value>,
) -> Effect {
    let effect = method_type.change(cx, target, Value::Object(set.clone()));
    let asked = set.into_iter().filter(|(_, value)| *value != json!(""));
    asked.fold(effect, |effect, (field, value)| effect.expecting(&field, value))
}

/// Replaces everything in a saved method with the details that a fresh token holds.
pub fn renew_method(
    cx: EffectContext,
    source: MethodSource<'_>,
    target: &RemoteId,
    token: &FreshToken,
) -> Effect {
    let effect = change_method(cx, source, target);
    let effect = with_token(effect, &token.sealed, token.single_use());
    source.expect_visible(effect.expecting("fingerprint", token.fingerprint.clone()))
}

/// Replaces everything in a saved method with the details of a token that was supplied for this
/// method.
pub fn renew_by_token(
    cx: EffectContext,
    source: MethodSource<'_>,
    target: &RemoteId,
    brought: &SuppliedToken,
) -> Effect {
    let effect = change_method(cx, source, target);
    with_token(effect, &json!(brought.sealed), single_use(brought))
}

fn with_token(mut effect: Effect, sealed: &Value, once: SingleUse) -> Effect {
    set_field(&mut effect.request.body, "token_id", json!({ "$sealed": sealed }));
    effect.with_sealed_body().with_single_use(once)
}

/// Reads when the object was last modified, for a change that nothing else shows.
fn before<S: MethodEndpoints>(effect: &Effect) -> Vec<RemoteQuery> {
    if effect.sealed { vec![read_target::<S>(effect.target.as_ref())] } else { Vec::new() }
}

fn target_queries<S: MethodEndpoints>(intent: &Intent) -> Vec<RemoteQuery> {
    vec![read_target::<S>(intent.target.as_ref())]
}

fn judge_change<S: MethodEndpoints>(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    // A removed object cannot be changed: the next attempt gets that answer.
    let (gone, no_path) = (LookupResult::NotFound, unreadable::<S>());
    judge_object(answers, |object| shows_change(intent, object), gone, no_path)
}

fn unreadable<S: MethodEndpoints>() -> LookupResult {
    LookupResult::Inconclusive(format!("the {} cannot be read back", S::WORD))
}

const fn change_row<S: MethodEndpoints>() -> EffectRow {
    EffectRow::looked_up::<S::Patch>(
        S::CHANGE,
        Isolation::PerObject,
        target_queries::<S>,
        judge_change::<S>,
        learn,
    )
    .with_baseline(Baseline { queries: before::<S>, keep: modified_time, refuse: accept_any })
}

pub(crate) const CARD_CHANGE: EffectRow = change_row::<CardEndpoints>();
pub(crate) const BANK_CHANGE: EffectRow = change_row::<BankEndpoints>();

pub fn delete_method(
    cx: EffectContext,
    method_type: PaymentMethodType,
    target: &RemoteId,
) -> Effect {
    let id = [target.as_str()];
    match method_type {
        PaymentMethodType::Card => cx.effect::<DeleteCard>(CardEndpoints::DELETE, &id, Value::Null),
        PaymentMethodType::Bank => cx.effect::<DeleteBank>(BankEndpoints::DELETE, &id, Value::Null),
    }
    .targeting(target)
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "every effect's answer may be none; this one's cannot"
)]
fn learn_removal(intent: &Intent, _: &Value) -> Result<Learned, String> {
    if is_action(&intent.key) {
        let remote_id = intent.target.clone();
        return Ok(Learned { remote_id, ..Learned::existing(json!({})) });
    }
    Ok(Learned { facts: cleared_token(), ..Learned::default() })
}

fn judge_removal<S: MethodEndpoints>(_: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    judge_object(answers, |_| false, LookupResult::Applied(Value::Null), unreadable::<S>())
}

const fn delete_row<S: MethodEndpoints>() -> EffectRow {
    EffectRow::looked_up::<S::Delete>(
        S::DELETE,
        Isolation::None,
        target_queries::<S>,
        judge_removal::<S>,
        learn_removal,
    )
    // A refusal because the object does not exist proves the removal.
    .with_proven_state(|problem| {
        let unknown = problem.code() == "resource_not_found"
            && problem.messages.iter().any(|message| message.context.is_some());
        unknown.then_some(ProvenState::Gone)
    })
}

pub(crate) const CARD_DELETE: EffectRow = delete_row::<CardEndpoints>();
pub(crate) const BANK_DELETE: EffectRow = delete_row::<BankEndpoints>();

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::rules::ProblemMessage;
    use crate::effects::testing::{intent, judged, no_path};
    use crate::model::outcome::ServiceProblem;

    #[test]
    fn a_lost_answer_is_settled_by_what_is_there() {
        for name in [CardEndpoints::DELETE, BankEndpoints::DELETE] {
            let check =
                |answer: RemoteAnswer| judged(&intent(name, &json!({}), Value::Null), &[answer]);
            assert_eq!(check(RemoteAnswer::Body(json!({"id": "c1"}))), "absent", "{name}");
            assert!(check(no_path()).starts_with("unknown"), "{name}");
            let gone = ProblemMessage::new("resource_not_found", "gone").with_context("Card[c1]");
            let gone = RemoteAnswer::Missing(ServiceProblem::from_messages(vec![gone]));
            let asked = intent(name, &json!({}), Value::Null);
            assert!(matches!(
                judge_removal::<CardEndpoints>(&asked, &[gone]),
                LookupResult::Applied(Value::Null)
            ));
        }
    }

    #[test]
    fn a_document_s_method_is_gone_and_a_command_is_done() {
        let asked = intent(CardEndpoints::DELETE, &json!({}), Value::Null);
        let learned = learn_removal(&asked, &Value::Null).unwrap();
        assert!(!learned.exists && learned.facts == cleared_token());
        let command = Intent { key: "Action/delete-1".parse().unwrap(), ..asked };
        let learned = learn_removal(&command, &Value::Null).unwrap();
        assert!(learned.exists && learned.facts == json!({}));
        assert_eq!(learned.remote_id, command.target);
    }
}
