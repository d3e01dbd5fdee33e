//! Removes a saved card or bank (gateway-api, DELETE /v1/cards/{cardId}, DELETE
//! /v1/banks/{bankId}): its id can no longer pay.
//!
//! A method that is not found counts as removed, whatever removed it. A command that deletes a
//! method is then done.

use serde_json::{Value, json};

use super::method::{Banks, Cards, MethodSort, Sort, read_target};
use super::register::{
    Absent, Answer, Doubt, EffectRow, Finding, Lane, Learned, Proved, Query, Search,
};
use super::token_create::spent;
use super::{Obligation, Shaped};
use crate::base::id::RemoteId;
use crate::model::action::is_action;
use crate::model::effect::Effect;
use crate::model::intent::Intent;
use crate::model::service_problem::ServiceProblem;

/// Removes a saved method.
pub fn delete_method(obligation: Obligation, sort: MethodSort, target: &RemoteId) -> Effect {
    match sort {
        MethodSort::Card => delete::<Cards>(obligation, target),
        MethodSort::Bank => delete::<Banks>(obligation, target),
    }
}

fn delete<S: Sort>(obligation: Obligation, target: &RemoteId) -> Effect {
    obligation.effect::<S::Delete>(S::DELETE, &[target.as_str()], Value::Null).on(target)
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
    Ok(Learned { exists: false, facts: spent(), ..Learned::default() })
}

fn queries<S: Sort>(intent: &Intent) -> Vec<Query> {
    vec![read_target::<S>(intent.target.as_ref())]
}

fn judge<S: Sort>(_: &Intent, answers: &[Answer]) -> Finding {
    match answers.first() {
        Some(answer @ Answer::Missing(_)) if !answer.unknown_path() => {
            Finding::Happened(Value::Null)
        }
        Some(Answer::Body(_)) => Finding::Absent,
        Some(Answer::Missing(_) | Answer::Items(_)) | None => {
            Finding::Unknown(format!("the {} cannot be read back", S::WORD))
        }
    }
}

/// Interprets a refusal because the object does not exist as proof of removal.
fn gone(problem: &ServiceProblem) -> Option<Proved> {
    let unknown = problem.code() == "resource_not_found"
        && problem.messages.iter().any(|message| message.context.is_some());
    unknown.then_some(Proved::Gone)
}

const fn row<S: Sort>() -> EffectRow {
    let search = Search { queries: queries::<S>, judge: judge::<S>, absent: Absent::Again };
    EffectRow {
        name: S::DELETE,
        doubt: Doubt::Search(search),
        baseline: None,
        lane: Lane::Own,
        learn,
        proves: gone,
    }
}

pub(super) const CARD: EffectRow = row::<Cards>();
pub(super) const BANK: EffectRow = row::<Banks>();

#[cfg(test)]
mod tests {
    use super::super::testing::{intent, judged, no_path};
    use super::*;
    use crate::api::Message;

    #[test]
    fn a_lost_answer_is_settled_by_what_is_there() {
        for name in [Cards::DELETE, Banks::DELETE] {
            let check = |answer: Answer| judged(&intent(name, &json!({}), Value::Null), &[answer]);
            assert_eq!(check(Answer::Body(json!({"id": "c1"}))), "absent", "{name}");
            assert!(check(no_path()).starts_with("unknown"), "{name}");
            let gone = Message::new("resource_not_found", "gone").about("Card[c1]");
            let gone = Answer::Missing(ServiceProblem::told(vec![gone]));
            let asked = intent(name, &json!({}), Value::Null);
            assert!(matches!(judge::<Cards>(&asked, &[gone]), Finding::Happened(Value::Null)));
        }
    }

    #[test]
    fn a_document_s_method_is_gone_and_a_command_is_done() {
        let asked = intent(Cards::DELETE, &json!({}), Value::Null);
        let learned = learn(&asked, &Value::Null).unwrap();
        assert!(!learned.exists && learned.facts == spent());
        let command = Intent { key: "Action/delete-1".parse().unwrap(), ..asked };
        let learned = learn(&command, &Value::Null).unwrap();
        assert!(learned.exists && learned.facts == json!({}));
        assert_eq!(learned.remote_id, command.target);
    }
}
