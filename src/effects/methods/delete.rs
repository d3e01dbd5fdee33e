//! Removes a saved card or bank (gateway-api, DELETE /v1/cards/{cardId}, DELETE
//! /v1/banks/{bankId}): its id can no longer pay.
//!
//! A method that is not found counts as removed, whatever removed it. A command that deletes a
//! method is then done.

use serde_json::{Value, json};

use super::method::{
    BankEndpoints, CardEndpoints, MethodEndpoints, PaymentMethodType, cleared_token, read_target,
};
use crate::base::id::RemoteId;
use crate::effects::core::context::{EffectBuilder, EffectContext};
use crate::effects::core::row::{
    EffectRow, Isolation, Learned, LookupResult, ProvenState, RemoteAnswer, RemoteQuery,
};
use crate::model::action::is_action;
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;
use crate::model::service::outcome::ServiceProblem;

/// Removes a saved method.
pub fn delete_method(
    obligation: EffectContext,
    sort: PaymentMethodType,
    target: &RemoteId,
) -> Effect {
    match sort {
        PaymentMethodType::Card => delete::<CardEndpoints>(obligation, target),
        PaymentMethodType::Bank => delete::<BankEndpoints>(obligation, target),
    }
}

fn delete<S: MethodEndpoints>(obligation: EffectContext, target: &RemoteId) -> Effect {
    obligation.effect::<S::Delete>(S::DELETE, &[target.as_str()], Value::Null).targeting(target)
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "every effect's answer may be none; this one's cannot"
)]
fn learn(intent: &Intent, _: &Value) -> Result<Learned, String> {
    if is_action(&intent.key) {
        let remote_id = intent.target.clone();
        return Ok(Learned { remote_id, exists: true, facts: json!({}), ..Learned::default() });
    }
    Ok(Learned { exists: false, facts: cleared_token(), ..Learned::default() })
}

fn queries<S: MethodEndpoints>(intent: &Intent) -> Vec<RemoteQuery> {
    vec![read_target::<S>(intent.target.as_ref())]
}

fn judge<S: MethodEndpoints>(_: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    match answers.first() {
        Some(answer @ RemoteAnswer::Missing(_)) if !answer.is_unknown_path() => {
            LookupResult::Applied(Value::Null)
        }
        Some(RemoteAnswer::Body(_)) => LookupResult::NotFound,
        Some(RemoteAnswer::Missing(_) | RemoteAnswer::Items(_)) | None => {
            LookupResult::Inconclusive(format!("the {} cannot be read back", S::WORD))
        }
    }
}

/// Interprets a refusal because the object does not exist as proof of removal.
fn proves_gone(problem: &ServiceProblem) -> Option<ProvenState> {
    let unknown = problem.code() == "resource_not_found"
        && problem.messages.iter().any(|message| message.context.is_some());
    unknown.then_some(ProvenState::Gone)
}

const fn row<S: MethodEndpoints>() -> EffectRow {
    EffectRow::looked_up(S::DELETE, Isolation::None, queries::<S>, judge::<S>, learn)
        .with_proven_state(proves_gone)
}

pub(crate) const CARD: EffectRow = row::<CardEndpoints>();
pub(crate) const BANK: EffectRow = row::<BankEndpoints>();

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::problem::ProblemMessage;
    use crate::effects::testing::{intent, judged, no_path};

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
                judge::<CardEndpoints>(&asked, &[gone]),
                LookupResult::Applied(Value::Null)
            ));
        }
    }

    #[test]
    fn a_document_s_method_is_gone_and_a_command_is_done() {
        let asked = intent(CardEndpoints::DELETE, &json!({}), Value::Null);
        let learned = learn(&asked, &Value::Null).unwrap();
        assert!(!learned.exists && learned.facts == cleared_token());
        let command = Intent { key: "Action/delete-1".parse().unwrap(), ..asked };
        let learned = learn(&command, &Value::Null).unwrap();
        assert!(learned.exists && learned.facts == json!({}));
        assert_eq!(learned.remote_id, command.target);
    }
}
